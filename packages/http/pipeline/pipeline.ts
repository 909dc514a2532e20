/** Takes every request through the checks, in order, to its handler and into its envelope. */
import {
  type ApiKey,
  Forbidden,
  KeyAuthenticator,
  PremiumRequired,
  type PublicError,
  RequestLimits,
} from "@accountlink/core";
import { isAddressAllowed } from "@accountlink/core/addresses";
import { type Commit, Idempotency } from "@accountlink/core/idempotency";
import * as Immediate from "@accountlink/core/immediate";
import { type Parameters, type ParameterValues, type Route, takesHead } from "@accountlink/http-api";
import { Effect, Exit, type Schema, Scope } from "effect";
import type { HttpMethod } from "effect/http";
import { compressed } from "../compression.ts";
import type { Envelope, Success, SuccessOf } from "../envelopes/envelope.ts";
import { envelopeOf, shapeOf } from "../envelopes/envelope_of.ts";
import { type HttpRequest, isUnder, queryTextOf } from "../http_request.ts";
import { HttpResponse, isStream } from "../http_response.ts";
import {
  type Answer,
  atFirstRequest,
  contextMaker,
  newRequestId,
  type RequestContext,
} from "../request_context.ts";
import { defaultContract } from "../service_versions/service_version.ts";
import { HttpSettings } from "../settings.ts";
import { isList, readJson } from "./body.ts";
import { answerOnce } from "./idempotency.ts";
import { keyReader } from "./key_reader.ts";
import { LookupSequence } from "./lookup_sequence.ts";
import { type FindProblems, premiumTest } from "./parameters.ts";
import { redirectIntoFlow } from "./redirect_into_flow.ts";
import { asksStoreAlone, checkContract, rawValuesOf, readerFor } from "./request_values.ts";
import { logAccess, makeObservers, type Observers, respond } from "./respond.ts";

/** The input of a handler. */
interface Input<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly context: RequestContext;
}

/** The input of a handler whose route needs a key. */
export interface KeyedInput<P extends Parameters> extends Input<P> {
  readonly key: ApiKey;
}

/** The input of a handler that writes. */
export interface WriteInput<P extends Parameters, A> extends KeyedInput<P> {
  /** Commits the write of the handler, with its answer if the request has an idempotency key. */
  readonly commit: Commit<A>;
}

/** A route and what answers its requests. */
export interface BoundRoute {
  readonly method: HttpMethod.HttpMethod;
  readonly path: `/${string}`;
  readonly answer: Answer;
  /** On a route of GET that waits or streams. */
  readonly refusesHead?: true;
}

/** The content of an envelope, or a whole response. */
type Answered = Success | HttpResponse;

/** What a handler returns. */
type Handled<S extends Schema.Top, R = never> = Effect.Effect<SuccessOf<S["Encoded"]>, PublicError, R>;

/** The checks of values that the parameters of a route do not say. */
interface ValueChecks<P extends Parameters> {
  /** Answered together with what is wrong with the form of values. */
  readonly findProblems?: FindProblems<P>;
  /** Comes after that, and before the tier of the key. */
  readonly validate?: (values: ParameterValues<P>) => Effect.Effect<void, PublicError>;
}

/** Binds routes to handlers. */
export interface Pipeline {
  /** A route that needs a key. */
  readonly keyed: <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Handled<S>,
    checks?: ValueChecks<P>,
  ) => BoundRoute;

  /**
   * A route that needs a key and looks up one record. While no other lookup waits for its limits, the record is read as
   * they are counted. A refused request read it in vain, so the one after that waits, and platforms are never asked ahead.
   */
  readonly lookup: Pipeline["keyed"];

  /** A route that needs a key, whose answer goes on after its head. The scope closes with the response. */
  readonly streamed: <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Handled<S, Scope.Scope>,
  ) => BoundRoute;

  /**
   * A route that needs a key and takes an idempotency key, under which its answer is kept.
   *
   * @param toSuccess the answer, from the result of the handler
   */
  readonly write: <P extends Parameters, S extends Schema.Top, A>(
    route: Route<P, S>,
    toSuccess: (result: A, input: KeyedInput<P>) => SuccessOf<S["Encoded"]>,
    handler: (input: WriteInput<P, A>) => Effect.Effect<A, PublicError>,
    checks?: ValueChecks<P>,
  ) => BoundRoute;

  /**
   * A route that takes no key and counts against none.
   *
   * @param answerList answers a body that is a JSON array
   */
  readonly open: <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: Input<P>) => Handled<S>,
    answerList?: (
      items: ReadonlyArray<unknown>,
      context: RequestContext,
    ) => Effect.Effect<HttpResponse, PublicError>,
  ) => BoundRoute;

  /**
   * A response outside the contract, without a key, counted against the requests per second of its
   * client address.
   *
   * @param id its route in metrics
   */
  readonly visit: (
    id: string,
    answer: (request: HttpRequest) => Effect.Effect<HttpResponse, PublicError>,
  ) => Answer;

  /** A response to a request without a route, which counts against nothing. */
  readonly unrouted: Pipeline["visit"];
}

/** Makes the pipeline from the services of core and `HttpSettings`. */
export const makePipeline = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;
  const observers = yield* makeObservers;
  const idempotency = yield* Idempotency;
  const withContext = contextMaker(settings);
  const sequence = new LookupSequence();

  /** Answers the requests of a route in its envelope. */
  const bind = (
    route: Route,
    prepare: () => (context: RequestContext) => Effect.Effect<Answered, PublicError>,
  ): BoundRoute => {
    const { method, path } = route;
    const answer = atFirstRequest(() => {
      const envelope = envelopeOf(route);
      const handle = prepare();
      return withContext(route, (context) =>
        compressed(context.request, render(envelope, context, observers, handle(context))),
      );
    });
    return { method, path, answer, ...(takesHead(route) ? {} : { refusesHead: true }) };
  };

  /** The checks of a request with a key, and its handler. */
  const checked = <P extends Parameters, R>(
    route: Route<P>,
    handler: (input: KeyedInput<P>) => Effect.Effect<Answered, PublicError, R>,
    { findProblems, validate }: ValueChecks<P> = {},
    readsAhead = false,
  ) => {
    const rawOf = rawValuesOf(route);
    const read = readerFor(route, findProblems);
    const isAllowed = accessTest(route);
    const isServed = tierTest(route);
    const asksForPremium = premiumTest(route);
    const keyOf = keyReader(route.service?.credentials);
    const { traffic = "mapping" } = route;

    const answer = Immediate.fn(function* (context: RequestContext, key: ApiKey) {
      if (!isAllowed(key)) return yield* new Forbidden({ reason: "key_access" });
      if (!isServed(key)) return yield* new PremiumRequired();
      const values = yield* read(context, yield* rawOf(context));
      if (validate !== undefined) yield* validate(values);
      if (key.tier !== "premium" && asksForPremium(values)) return yield* new PremiumRequired();
      return yield* handler({ values, context, key });
    });

    return Immediate.fn(function* (context: RequestContext) {
      const { address, request } = context;
      if (route.access === "key_or_redirect" && request.header("authorization") === undefined) {
        yield* authenticator.checkThrottle(address);
        yield* limits.admitVisit(address);
        return redirectIntoFlow(settings.publicUrl, context, queryTextOf(request));
      }
      const authenticated = yield* authenticator.authenticate(keyOf(request), address);
      context.key = authenticated;
      const { key, quota } = authenticated;
      yield* observers.security.noteUse(key.id, address);
      if (!isAddressAllowed(key, address)) return yield* new Forbidden({ reason: "ip_not_allowed" });
      const counted = limits.admit({ key, quota, address, traffic });
      const rest = answer(context, key);
      const turn = readsAhead ? sequence.begin() : null;
      const [{ report, refusal }, answered] =
        turn?.isAlone === true && asksStoreAlone(context)
          ? yield* Immediate.meanwhile(counted, rest)
          : ([yield* counted, rest] as const);
      if (turn !== null) turn.isRefused = refusal !== null;
      context.limits = report;
      if (refusal === null) return yield* answered;
      // A refusal is of no dated contract, also where the request was read already.
      context.contract = defaultContract;
      return yield* refusal;
    });
  };

  const keyed: Pipeline["keyed"] = (route, handler, checks) =>
    bind(route, () => checked(route, handler, checks));

  const lookup: Pipeline["lookup"] = (route, handler, checks) =>
    bind(route, () => checked(route, handler, checks, true));

  const streamed: Pipeline["streamed"] = (route, handler) =>
    bind(route, () => {
      const answer = checked(route, handler);
      return (context) => releasing(answer(context));
    });

  const write = <P extends Parameters, S extends Schema.Top, A>(
    route: Route<P, S>,
    toSuccess: (result: A, input: KeyedInput<P>) => SuccessOf<S["Encoded"]>,
    handler: (input: WriteInput<P, A>) => Effect.Effect<A, PublicError>,
    checks?: ValueChecks<P>,
  ): BoundRoute =>
    bind(route, () =>
      checked(
        route,
        (input) =>
          answerOnce(idempotency, input, handler, (result: A) => toSuccess(result, input) as Success),
        checks,
      ),
    );

  const open: Pipeline["open"] = (route, handler, answerList) =>
    bind(route, () => {
      const read = readerFor(route);
      const rawOf = rawValuesOf(route);
      return Effect.fnUntraced(function* (context: RequestContext) {
        yield* authenticator.checkThrottle(context.address);
        if (route.access === "redirect") yield* limits.admitVisit(context.address);
        if (answerList === undefined) {
          return yield* handler({ values: yield* read(context, yield* rawOf(context)), context });
        }
        const body = yield* readJson(context.request);
        if (!isList(body)) return yield* handler({ values: yield* read(context, body), context });
        yield* checkContract(context);
        return yield* answerList(body, context);
      });
    });

  const outside =
    (id: string, answer: (context: RequestContext) => Effect.Effect<HttpResponse, PublicError>): Answer =>
    (request, query) => {
      const { url } = request;
      const shape = shapeOf(url);
      const answerTo = withContext({ id, generation: shape.generation, group: null }, (context) =>
        render(
          envelopeOf(shape),
          context,
          observers,
          Effect.map(answer(context), (response) =>
            response.withHeaders(standardHeaders(context.requestId, url)),
          ),
        ),
      );
      return answerTo(request, query);
    };

  const visit: Pipeline["visit"] = (id, answer) =>
    outside(id, ({ address, request }) => Effect.andThen(limits.admitVisit(address), answer(request)));

  const unrouted: Pipeline["unrouted"] = (id, answer) => outside(id, ({ request }) => answer(request));

  return { keyed, lookup, streamed, write, open, visit, unrouted } satisfies Pipeline;
});

/** Closes the scope of an answer with its body, or at once if it has none. */
const releasing = <E>(answer: Effect.Effect<Answered, E, Scope.Scope>): Effect.Effect<Answered, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() => {
      const scope = Scope.makeUnsafe();
      return Effect.matchCauseEffect(restore(Scope.provide(answer, scope)), {
        onFailure: (cause) =>
          Effect.andThen(Scope.close(scope, Exit.failCause(cause)), Effect.failCause(cause)),
        onSuccess: (answered) => {
          const release = Scope.close(scope, Exit.void);
          if (!(answered instanceof HttpResponse) || !isStream(answered.body)) {
            return Effect.as(release, answered);
          }
          const body = { chunks: answered.body.chunks, release };
          return Effect.succeed(new HttpResponse(answered.status, answered.headers, body));
        },
      });
    }),
  );

/**
 * Gives the answers for operators the headers of every response.
 *
 * @param route its route in the access log
 */
export const withHeaders =
  (route: string, answer: (request: HttpRequest) => Effect.Effect<HttpResponse>): Answer =>
  (request) => {
    const startedAt = performance.now();
    const requestId = newRequestId();
    const { url, method } = request;
    return Effect.flatMap(answer(request), (response) => {
      const line = { requestId, method, route, status: response.status, code: "OK", startedAt, key: null };
      return Effect.as(logAccess("Debug", line), response.withHeaders(standardHeaders(requestId, url)));
    });
  };

const standardHeaders = (requestId: string, url: string) => ({
  "x-request-id": requestId,
  ...(isUnder("/v2", url) ? { "service-version": defaultContract.date } : {}),
});

/** Makes the test whether a route is among what a key is for. */
const accessTest = ({ keyAccess = [] }: Pick<Route, "keyAccess">) => {
  const allowed = new Set<ApiKey["access"]>(["full", ...keyAccess]);
  return ({ access }: ApiKey): boolean => allowed.has(access);
};

/** Makes the test whether a route serves a key by its tier, scope and kind. */
const tierTest = ({ tier }: Pick<Route, "tier">) => {
  if (tier === undefined) return () => true;
  return ({ tier: own, scope, kind }: ApiKey): boolean =>
    own === "premium" ||
    (tier === "premium_or_global" && scope.kind === "global") ||
    (tier === "premium_or_custom" && kind !== "normal");
};

/** Turns the outcome of the checks and the handler into a response. */
export const render = <R>(
  envelope: Envelope,
  context: RequestContext,
  observers: Observers,
  answer: Effect.Effect<Answered, PublicError, R>,
) =>
  respond(
    context,
    observers,
    Immediate.map(answer, (success) =>
      success instanceof HttpResponse ? success : envelope.success(context, success),
    ),
    (error) => ({ response: envelope.failure(context, error), error }),
  );

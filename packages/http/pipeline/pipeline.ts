/** Runs every request through the checks and its handler, and wraps the result in the envelope of the route. */
import { KeyAuthenticator, type PublicError, RequestLimits } from "@accountlink/core";
import { shownError } from "@accountlink/core/errors";
import { Idempotency, type Once } from "@accountlink/core/idempotency";
import type { WriteTarget } from "@accountlink/core/links";
import type { RequestedGuild } from "@accountlink/core/platforms";
import { type Parameters, type RawValues, type Route, takesHead } from "@accountlink/http-api";
import { Effect, Exit, type Schema, Scope } from "effect";
import type { HttpMethod } from "effect/http";
import { compressed, maxUncompressed } from "../compression.ts";
import { commonHeaders, type Envelope, type Success, type SuccessOf } from "../envelopes/envelope.ts";
import { envelopeOf, shapeOf } from "../envelopes/envelope_of.ts";
import { decoded, type HttpRequest, HttpResponse, isStream, isUnder } from "../http_app.ts";
import { type Answer, contextMaker, newRequestId, type RequestContext } from "../request_context.ts";
import { defaultContract } from "../service_versions/service_version.ts";
import { HttpSettings } from "../settings.ts";
import { isList, readJson } from "./body.ts";
import { type Answered, type Input, type KeyedInput, makeChecks, type ValueChecks } from "./checks.ts";
import { answerOnce } from "./idempotency.ts";
import { checkContract, valuesReader } from "./parameters.ts";
import {
  answering,
  logAccess,
  makeObservers,
  type Observers,
  type Outcome,
  type Refused,
  respond,
  within,
} from "./respond.ts";

export type { KeyedInput } from "./checks.ts";

interface WriteInput<P extends Parameters> extends KeyedInput<P> {
  /** The idempotency key of the request, which is stored together with the write of the handler and its outcome. */
  readonly once?: Once | undefined;
}

export type GuildInput = KeyedInput<{}> & { readonly values: { readonly guildId: RequestedGuild } };

/** The target of a write: the key's scope, the request's guild, the key as actor, and the idempotency key. */
export const targetOf = ({
  key,
  values,
  context,
  once,
}: GuildInput & { readonly once?: Once | undefined }): WriteTarget => ({
  scope: key.scope,
  guildId: values.guildId,
  origin: { actor: { type: "key", id: key.id }, requestId: context.requestId },
  once,
});

export interface BoundRoute {
  readonly method: HttpMethod.HttpMethod;
  readonly path: `/${string}`;
  readonly answer: Answer;
  /** Set for GET routes that wait or stream: such a route does not answer HEAD. */
  readonly refusesHead?: true;
}

type Handled<S extends Schema.Top, R = never> = Effect.Effect<SuccessOf<S["Encoded"]>, PublicError, R>;

export const makePipeline = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;
  const observers = yield* makeObservers;
  const idempotency = yield* Idempotency;
  const checked = yield* makeChecks;
  const withContext = contextMaker(settings);

  /** Binds a route to the function that answers its requests, and wraps the answers in the envelope of the route. */
  const bind = (
    route: Route,
    handle: (arrived: RequestContext) => Effect.Effect<Outcome<Answered>, Refused<PublicError>>,
  ): BoundRoute => {
    const { method, path } = route;
    const envelope = envelopeOf(route);
    const answer = withContext(route, (arrived) =>
      Effect.flatMap(render(envelope, observers, handle(arrived)), (response) => {
        const { body } = response;
        return typeof body === "string" && body.length > maxUncompressed
          ? compressed(arrived.request, response, body)
          : Effect.succeed(response);
      }),
    );
    return { method, path, answer, ...(takesHead(route) ? {} : { refusesHead: true }) };
  };

  const keyed = <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Handled<S>,
    checks?: ValueChecks<P>,
  ) =>
    bind(
      route,
      checked(route, (input) => answering(input.context, handler(input)), checks),
    );

  /** Binds a route that needs a key and whose response streams. The scope closes when the response ends. */
  const streamed = <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Handled<S, Scope.Scope>,
  ) => {
    const answer = checked(route, (input) => answering(input.context, handler(input)));
    return bind(route, (arrived) => releasing(answer(arrived)));
  };

  /**
   * Binds a route that needs a key and stores its response under an idempotency key.
   *
   * @param toSuccess makes the response from the result of the handler, or from the kept outcome of the write
   */
  const write = <P extends Parameters, S extends Schema.Top, A extends K, K>(
    route: Route<P, S>,
    toSuccess: (result: K, input: KeyedInput<P>) => SuccessOf<S["Encoded"]>,
    handler: (input: WriteInput<P>) => Effect.Effect<A, PublicError>,
    checks?: ValueChecks<P>,
  ) => {
    const answer = (input: KeyedInput<P>) =>
      answerOnce(idempotency, input, handler, (result: K) => toSuccess(result, input) as Success);
    return bind(route, checked(route, answer, checks));
  };

  /**
   * Binds a route that takes no key and counts against no limit of a key.
   *
   * @param answerList answers requests whose body is a JSON array; `handler` answers all other requests
   */
  const keyless = <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: Input<P>) => Handled<S>,
    answerList?: (
      items: ReadonlyArray<unknown>,
      context: RequestContext,
    ) => Effect.Effect<HttpResponse, PublicError>,
  ) => {
    const read = valuesReader(route);
    const answerOf = Effect.fnUntraced(function* (arrived: RequestContext, body?: RawValues) {
      const { values, contract } = yield* read(arrived, null, body);
      const input = { values, context: { ...arrived, contract } };
      return yield* answering(input.context, handler(input));
    });
    const answer = Effect.fnUntraced(function* (arrived: RequestContext) {
      yield* authenticator.checkThrottle(arrived.address);
      if (route.access === "redirect") yield* limits.admitAddress(arrived.address, "second");
      if (answerList === undefined) return yield* answerOf(arrived);
      const body = yield* readJson(arrived.request);
      if (!isList(body)) return yield* answerOf(arrived, body);
      yield* checkContract(arrived);
      return { context: arrived, answer: yield* answerList(body, arrived) };
    });
    return bind(route, (arrived) => within(arrived, answer(arrived)));
  };

  /**
   * Makes the answer to requests that match no route of the API, such as requests for documents. These requests need no
   * key. They count against the requests per second of the client address, unless `isCounted` is false.
   *
   * @param id the name of these requests in metrics
   */
  const keylessAnswer =
    (
      id: string,
      answer: (request: HttpRequest) => Effect.Effect<HttpResponse, PublicError>,
      { isCounted } = { isCounted: true },
    ): Answer =>
    (request, query) => {
      const url = decoded(request.url);
      // The path of a request decides which envelope its errors get.
      const shape = shapeOf(url);
      const answerTo = withContext({ id, generation: shape.generation, group: null }, (context) => {
        const admitted = isCounted ? limits.admitAddress(context.address, "second") : Effect.void;
        const answered = Effect.map(Effect.andThen(admitted, answer(request)), (response) =>
          response.withHeaders(standardHeaders(context.requestId, url)),
        );
        return render(envelopeOf(shape), observers, answering(context, answered));
      });
      return answerTo(request, query);
    };

  return { keyed, streamed, write, keyless, keylessAnswer };
});

export interface Pipeline extends Effect.Success<typeof makePipeline> {}

/** Closes the scope of a response when its body ends, or at once if it has no body. */
const releasing = <E>(
  outcome: Effect.Effect<Outcome<Answered>, E, Scope.Scope>,
): Effect.Effect<Outcome<Answered>, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make();
      const exit = yield* Effect.exit(restore(Scope.provide(outcome, scope)));
      if (Exit.isSuccess(exit)) {
        const { context, answer } = exit.value;
        if (answer instanceof HttpResponse && isStream(answer.body)) {
          const { status, headers, body } = answer;
          const release = Scope.close(scope, Exit.void);
          return { context, answer: new HttpResponse(status, headers, { chunks: body.chunks, release }) };
        }
      }
      yield* Scope.close(scope, exit);
      return yield* exit;
    }),
  );

/**
 * Makes the answer of a route that has no checks and no envelope. It adds the headers that every response has, and logs
 * the request.
 *
 * @param route the name of the route in the access log
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

/** Adds the limits of its key to a file. Other responses that handlers make, such as streams, have them. */
const withLimits = (context: RequestContext, response: HttpResponse): HttpResponse => {
  if (context.key === null || "ratelimit-policy" in response.headers) return response;
  const headers = commonHeaders(context, context.clock.currentTimeMillisUnsafe());
  return response.withHeaders({ ...headers, ...response.headers });
};

export const render = (
  envelope: Envelope,
  observers: Observers,
  outcome: Effect.Effect<Outcome<Answered>, Refused<PublicError>>,
) =>
  respond(
    observers,
    outcome,
    (context, success) =>
      success instanceof HttpResponse ? withLimits(context, success) : envelope.success(context, success),
    (context, found) => {
      const error = shownError(found);
      return { response: envelope.failure(context, error), error };
    },
  );

/** Runs every request through the checks and its handler, and wraps the result in the envelope of the route. */
import { KeyAuthenticator, type PublicError, RequestLimits } from "@accountlink/core";
import { type Commit, Idempotency } from "@accountlink/core/idempotency";
import type { WriteTarget } from "@accountlink/core/links";
import type { RequestedGuild } from "@accountlink/core/platforms";
import { type Parameters, type RawValues, type Route, takesHead } from "@accountlink/http-api";
import { Effect, Exit, type Schema, Scope } from "effect";
import type { HttpMethod } from "effect/http";
import { compressed, maxUncompressed } from "../compression.ts";
import type { Envelope, Success, SuccessOf } from "../envelopes/envelope.ts";
import { envelopeOf, shapeOf } from "../envelopes/envelope_of.ts";
import { type HttpRequest, HttpResponse, isStream, isUnder } from "../http_app.ts";
import {
  type Answer,
  atFirstRequest,
  contextMaker,
  type Learn,
  newRequestId,
  Progress,
  type RequestContext,
} from "../request_context.ts";
import { defaultContract } from "../service_versions/service_version.ts";
import { HttpSettings } from "../settings.ts";
import { isList, readJson } from "./body.ts";
import { type Answered, type Input, type KeyedInput, makeChecks, type ValueChecks } from "./checks.ts";
import { answerOnce } from "./idempotency.ts";
import { checkContract, valuesReader } from "./parameters.ts";
import { logAccess, makeObservers, type Observers, respond } from "./respond.ts";

export type { KeyedInput } from "./checks.ts";

interface WriteInput<P extends Parameters, A> extends KeyedInput<P> {
  /**
   * Commits the write of the handler. If the request has an idempotency key, the response is stored together with the
   * write.
   */
  readonly commit: Commit<A>;
}

export type GuildInput = KeyedInput<{}> & { readonly values: { readonly guildId: RequestedGuild } };

/** The target of a write: the key's scope, the request's guild, the key as actor, and the commit function. */
export const targetOf = <A = unknown>({
  key,
  values,
  context,
  commit,
}: GuildInput & { readonly commit?: Commit<A> }): WriteTarget<A> => ({
  scope: key.scope,
  guildId: values.guildId,
  origin: { actor: { type: "key", id: key.id }, requestId: context.requestId },
  commit,
});

export interface BoundRoute {
  readonly method: HttpMethod.HttpMethod;
  readonly path: `/${string}`;
  readonly answer: Answer;
  /** Set for GET routes that wait or stream: such a route does not answer HEAD. */
  readonly refusesHead?: true;
}

type Handled<S extends Schema.Top, R = never> = Effect.Effect<SuccessOf<S["Encoded"]>, PublicError, R>;

export interface Pipeline {
  readonly keyed: <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Handled<S>,
    checks?: ValueChecks<P>,
  ) => BoundRoute;

  /** Binds a route that needs a key and whose response streams. The scope closes when the response ends. */
  readonly streamed: <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Handled<S, Scope.Scope>,
  ) => BoundRoute;

  /**
   * Binds a route that needs a key and stores its response under an idempotency key.
   *
   * @param toSuccess makes the response from the result of the handler
   */
  readonly write: <P extends Parameters, S extends Schema.Top, A>(
    route: Route<P, S>,
    toSuccess: (result: A, input: KeyedInput<P>) => SuccessOf<S["Encoded"]>,
    handler: (input: WriteInput<P, A>) => Effect.Effect<A, PublicError>,
    checks?: ValueChecks<P>,
  ) => BoundRoute;

  /**
   * Binds a route that takes no key and counts against no limit of a key.
   *
   * @param answerList answers requests whose body is a JSON array; `handler` answers all other requests
   */
  readonly keyless: <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: Input<P>) => Handled<S>,
    answerList?: (
      items: ReadonlyArray<unknown>,
      context: RequestContext,
    ) => Effect.Effect<HttpResponse, PublicError>,
  ) => BoundRoute;

  /**
   * Makes the answer to requests that match no route of the API, such as requests for documents. These requests need no
   * key. They count against the requests per second of the client address.
   *
   * @param id the name of these requests in metrics
   */
  readonly keylessAnswer: (
    id: string,
    answer: (request: HttpRequest) => Effect.Effect<HttpResponse, PublicError>,
  ) => Answer;

  /** Like `keylessAnswer`, but the requests count against no limit. */
  readonly uncountedAnswer: Pipeline["keylessAnswer"];
}

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
    prepare: () => (context: RequestContext, learn: Learn) => Effect.Effect<Answered, PublicError>,
  ): BoundRoute => {
    const { method, path } = route;
    const answer = atFirstRequest(() => {
      const envelope = envelopeOf(route);
      const handle = prepare();
      return withContext(route, (arrived) => {
        const progress = new Progress(arrived);
        const answered = handle(arrived, progress.learn);
        return Effect.flatMap(render(envelope, progress, observers, answered), (response) => {
          const { body } = response;
          return typeof body === "string" && body.length > maxUncompressed
            ? compressed(arrived.request, response, body)
            : Effect.succeed(response);
        });
      });
    });
    return { method, path, answer, ...(takesHead(route) ? {} : { refusesHead: true }) };
  };

  const keyed: Pipeline["keyed"] = (route, handler, checks) =>
    bind(route, () => checked(route, handler, checks));

  const streamed: Pipeline["streamed"] = (route, handler) =>
    bind(route, () => {
      const answer = checked(route, handler);
      return (arrived, learn) => releasing(answer(arrived, learn));
    });

  const write: Pipeline["write"] = (route, toSuccess, handler, checks) =>
    bind(route, () =>
      checked(
        route,
        (input, learn) =>
          answerOnce(idempotency, input, handler, (result) => toSuccess(result, input) as Success, learn),
        checks,
      ),
    );

  const keyless: Pipeline["keyless"] = (route, handler, answerList) =>
    bind(route, () => {
      const read = valuesReader(route);
      return Effect.fnUntraced(function* (arrived: RequestContext, learn: Learn) {
        const answer = Effect.fnUntraced(function* (body?: RawValues) {
          const { values, contract } = yield* read(arrived, null, body);
          return yield* handler({ values, context: learn({ contract }) });
        });
        yield* authenticator.checkThrottle(arrived.address);
        if (route.access === "redirect") yield* limits.admitKeyless(arrived.address);
        if (answerList === undefined) return yield* answer();
        const body = yield* readJson(arrived.request);
        if (!isList(body)) return yield* answer(body);
        yield* checkContract(arrived);
        return yield* answerList(body, arrived);
      });
    });

  /** The path of a request decides which envelope its errors get. */
  const enveloped =
    (id: string, answer: (context: RequestContext) => Effect.Effect<HttpResponse, PublicError>): Answer =>
    (request, query) => {
      const { url } = request;
      const shape = shapeOf(url);
      const answerTo = withContext({ id, generation: shape.generation, group: null }, (context) =>
        render(
          envelopeOf(shape),
          { context },
          observers,
          Effect.map(answer(context), (response) =>
            response.withHeaders(standardHeaders(context.requestId, url)),
          ),
        ),
      );
      return answerTo(request, query);
    };

  const keylessAnswer: Pipeline["keylessAnswer"] = (id, answer) =>
    enveloped(id, ({ address, request }) => Effect.andThen(limits.admitKeyless(address), answer(request)));

  const uncountedAnswer: Pipeline["uncountedAnswer"] = (id, answer) =>
    enveloped(id, ({ request }) => answer(request));

  return { keyed, streamed, write, keyless, keylessAnswer, uncountedAnswer } satisfies Pipeline;
});

/** Closes the scope of a response when its body ends, or at once if it has no body. */
const releasing = <E>(answer: Effect.Effect<Answered, E, Scope.Scope>): Effect.Effect<Answered, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make();
      const exit = yield* Effect.exit(restore(Scope.provide(answer, scope)));
      if (Exit.isSuccess(exit) && exit.value instanceof HttpResponse && isStream(exit.value.body)) {
        const { status, headers, body } = exit.value;
        const release = Scope.close(scope, Exit.void);
        return new HttpResponse(status, headers, { chunks: body.chunks, release });
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

export const render = <R>(
  envelope: Envelope,
  progress: Pick<Progress, "context">,
  observers: Observers,
  answer: Effect.Effect<Answered, PublicError, R>,
) =>
  respond(
    progress,
    observers,
    answer,
    (success) => (success instanceof HttpResponse ? success : envelope.success(progress.context, success)),
    (error) => ({ response: envelope.failure(progress.context, error), error }),
  );

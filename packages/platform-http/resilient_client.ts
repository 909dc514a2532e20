/**
 * The one HTTP client through which a platform is asked: bounded in time, in number and in size, tried again where that
 * is safe, and not asked at all for a while after it failed too often.
 */
import { monotonicMillis } from "@accountlink/core";
import { Clock, Duration, Effect, Random, Result, type Scope, Semaphore } from "effect";
import { Headers, HttpClient, type HttpClientRequest, type HttpClientResponse } from "effect/http";
import { brokenConnection, buffered } from "./internal/buffered_response.ts";
import { makeCircuit } from "./internal/circuit.ts";
import { countingOutcome, timing } from "./internal/observed.ts";
import { RequestFailed } from "./request_failed.ts";
import { defaultResilience, type Resilience } from "./resilience.ts";

/** A client whose answers are whole and below 500. */
export type ResilientClient = HttpClient.HttpClient.With<RequestFailed>;

/** Lets an attempt of the request be sent when it is time for it. */
export type TakeTurn = (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<void, RequestFailed>;

/** When a request must be over, in milliseconds of the monotonic clock. */
type Deadline = number;

/**
 * Makes a client patient, but not for ever.
 *
 * Attempts are bounded in time and in number at once. A GET or HEAD is tried again, after a pause, when the connection
 * failed, the attempt took too long, or the status was 429, 502, 503 or 504; a `Retry-After` is waited for, and a pause
 * that does not fit into the deadline ends the request instead. After some failures in a row (a connection, a timeout,
 * a status of 500 or more) the circuit opens and requests fail at once.
 *
 * @param client what sends the requests
 * @param platform the name of the platform in metrics and logs; one circuit stands for all of its requests
 * @param overrides settings other than the defaults
 * @param takeTurn what an attempt waits for before it is sent, within the deadline; when it fails, so does the request
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 * import { FetchHttpClient, HttpClient } from "effect/http";
 *
 * const request = Effect.gen(function* () {
 *   const client = yield* resilientClient(yield* HttpClient.HttpClient, "chat", { retries: 0 });
 *   return yield* Effect.flip(client.get("http://127.0.0.1:1/api/users/100001"));
 * });
 * const failure = await Effect.runPromise(request.pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)));
 * failure.reason; // "connection"
 * ```
 */
export const resilientClient = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  platform: string,
  overrides: Partial<Resilience> = {},
  takeTurn: TakeTurn = () => Effect.void,
): Effect.fn.Return<ResilientClient, never, Scope.Scope> {
  const settings = { ...defaultResilience, ...overrides };
  const attempt = yield* makeAttempt(client, platform, settings);

  const execute = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
    const deadline = (yield* monotonicMillis) + Duration.toMillis(settings.deadline);
    const retries = isRepeatable(request) ? settings.retries : 0;
    for (let tried = 0; ; tried++) {
      yield* orBusy(takeTurn(request), deadline);
      const result = yield* Effect.result(attempt(request, deadline));
      if (Result.isSuccess(result)) return result.success;

      const pause = yield* pauseBeforeRetry(result.failure, tried, settings);
      const isLast = tried >= retries || !isPassing(result.failure);
      if (isLast || pause >= (yield* millisUntil(deadline))) return yield* result.failure;
      yield* Effect.sleep(pause);
    }
  });

  return HttpClient.makeWith<RequestFailed, never, RequestFailed, never>(
    (request) => Effect.flatMap(request, execute),
    Effect.succeed,
  );
});

const makeAttempt = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  platform: string,
  settings: Resilience,
) {
  const places = yield* Semaphore.make(settings.concurrency);
  const circuit = yield* makeCircuit(platform, settings);
  const counted = countingOutcome(platform);
  const timed = timing(platform);

  const send = (request: HttpClientRequest.HttpClientRequest, timeout: number) =>
    client.execute(request).pipe(
      // Ids of our traces are no business of a platform.
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.catchTag("HttpClientError", (error) =>
        Effect.fail(
          error.reason._tag === "TransportError"
            ? brokenConnection(error)
            : new RequestFailed({ reason: "unsendable" }),
        ),
      ),
      Effect.flatMap((response) => buffered(response, settings.maxBodyBytes)),
      Effect.flatMap(refuseNoAnswer),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(new RequestFailed({ reason: "timeout" })),
      }),
    );

  return (request: HttpClientRequest.HttpClientRequest, deadline: Deadline) =>
    Effect.gen(function* () {
      yield* orBusy(places.takeScoped(1), deadline);
      const left = yield* millisUntil(deadline);
      const timeout = Math.min(left, Duration.toMillis(settings.attemptTimeout));
      return yield* circuit(timed(send(request, timeout)));
    }).pipe(Effect.scoped, counted);
});

const millisUntil = (deadline: Deadline) => Effect.map(monotonicMillis, (now) => Math.max(0, deadline - now));

const orBusy = <A, E, R>(wait: Effect.Effect<A, E, R>, deadline: Deadline) =>
  Effect.flatMap(millisUntil(deadline), (duration) =>
    Effect.timeoutOrElse(wait, {
      duration,
      orElse: () => Effect.fail(new RequestFailed({ reason: "busy" })),
    }),
  );

const isRepeatable = ({ method }: HttpClientRequest.HttpClientRequest): boolean =>
  method === "GET" || method === "HEAD";

const passingStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Whether the same request may well be answered a moment later. */
const isPassing = ({ reason, status = 0 }: RequestFailed): boolean =>
  reason === "connection" || reason === "timeout" || (reason === "status" && passingStatuses.has(status));

const pauseBeforeRetry = (failure: RequestFailed, tried: number, { backoff }: Resilience) =>
  Effect.map(Random.next, (random) => {
    const pause = Math.round(Duration.toMillis(backoff) * 2 ** tried * (1 - random / 2));
    return Math.max(pause, Duration.toMillis(failure.retryAfter ?? Duration.zero));
  });

const refuseNoAnswer = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { status, headers } = response;
  if (status < 500 && status !== 429) return response;

  const now = yield* Clock.currentTimeMillis;
  const wait = Headers.parseRetryAfter(headers["retry-after"] ?? "");
  const retryAfter = Result.isSuccess(wait) ? Headers.retryAfterDelay(wait.success, now) : Duration.zero;
  return yield* new RequestFailed({ reason: "status", status, retryAfter });
});

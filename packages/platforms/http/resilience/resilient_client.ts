/** The HTTP client of a platform, with timeouts, limits, retries and a circuit breaker. */
import { monotonicMillis } from "@accountlink/core/monotonic_millis";
import { ChargedAccount, Urgency } from "@accountlink/core/platforms";
import { bounds, TurnAccount, Turns, turnOwner, uncounted } from "@accountlink/core/turns";
import { ByteSize, Clock, Duration, Effect, Random, Result, type Scope, Stream } from "effect";
import {
  FetchHttpClient,
  Headers,
  HttpClient,
  type HttpClientError,
  type HttpClientRequest,
  HttpClientResponse,
} from "effect/http";
import { makeCircuit } from "./circuit.ts";
import { tellingFailures } from "./failure_log.ts";
import { countingOutcome, timing } from "./metrics.ts";
import { failBusy, RequestFailed } from "./request_failed.ts";
import { defaultResilience, type Resilience } from "./resilience.ts";

/** A client that reads responses fully. A response with status 429, or with status 500 or more, is a failure. */
export type ResilientClient = HttpClient.HttpClient.With<RequestFailed>;

/** Runs before each attempt and may delay or fail it, as a rate limiter does. */
export type BeforeAttempt = (
  request: HttpClientRequest.HttpClientRequest,
) => Effect.Effect<void, RequestFailed>;

/** How many requests of one account may wait for each place. */
const waitingPerPlace = 4;

/** When a request must end, in milliseconds of the monotonic clock. */
type Deadline = number;

/**
 * Adds timeouts, a concurrency limit, retries and a circuit breaker to a client.
 *
 * No redirect is followed: it is a response like any other.
 *
 * A request other than a POST is retried if the connection failed, the attempt timed out, or the status was 429, 502,
 * 503 or 504. There is a pause before each retry, which a `Retry-After` extends; after a 429 without a time it is at
 * least a second. A request fails at once if its pause would end after the deadline. Consecutive failures (connection,
 * timeout, status of 500 or more) open the circuit, and requests then fail at once. Failures of one account open the
 * circuit of this account, failures of several accounts the circuit of all.
 *
 * A response with status 401, 403, 404 or 429 is charged to the account that asks, see `PlatformRefusals`; an account
 * over its limit does not ask.
 *
 * @param client sends the requests
 * @param platform the name of the platform in metrics and logs
 * @param overrides settings that differ from the defaults
 * @param beforeAttempt runs before each attempt, within the deadline; its failure fails the request
 */
export const resilientClient = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  platform: string,
  overrides: Partial<Resilience> = {},
  beforeAttempt: BeforeAttempt = () => Effect.void,
): Effect.fn.Return<ResilientClient, never, Scope.Scope> {
  const settings = { ...defaultResilience, ...overrides };
  const attempt = yield* makeAttempt(client, platform, settings);

  const execute = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
    const deadline = (yield* monotonicMillis) + Duration.toMillis(settings.deadline);
    const retries = isRepeatable(request) ? settings.retries : 0;
    for (let retry = 0; ; retry++) {
      yield* checkAccount;
      yield* withinDeadline(beforeAttempt(request), deadline);
      const result = yield* Effect.result(attempt(request, deadline));
      if (Result.isSuccess(result)) return result.success;

      const pause = yield* pauseBeforeRetry(result.failure, retry, settings);
      const isLast = retry >= retries || !isTransient(result.failure);
      if (isLast || pause >= (yield* millisUntil(deadline))) return yield* result.failure;
      yield* Effect.sleep(pause);
    }
  });

  return HttpClient.makeWith<RequestFailed, never, RequestFailed, never>(
    (request) => uncounted(Effect.flatMap(request, execute)),
    Effect.succeed,
  );
});

const makeAttempt = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  platform: string,
  settings: Resilience,
) {
  const { concurrency } = settings;
  const share = Math.ceil(concurrency / 4);
  const turns = new Turns({
    resource: `platform_${platform}`,
    places: concurrency,
    share,
    mostWaiting: concurrency * waitingPerPlace,
  });
  // Leave most places, and half of the process, to requests whose answer somebody waits for.
  const background = new Turns({
    resource: `platform_${platform}_background`,
    places: share,
    longestRest: bounds.longestTurn,
  });
  const circuit = yield* makeCircuit(platform, settings);
  const counted = countingOutcome(platform);
  const timed = timing(platform);
  const told = tellingFailures(platform);

  const send = (request: HttpClientRequest.HttpClientRequest, timeout: number) =>
    client.execute(request).pipe(
      // Trace IDs are not disclosed to platforms.
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      // A redirect must not send secrets meant for this platform, such as a client secret, anywhere else.
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.catchTag("HttpClientError", (error) =>
        Effect.fail(
          error.reason._tag === "TransportError"
            ? brokenConnection(error)
            : new RequestFailed({ reason: "unsendable" }),
        ),
      ),
      Effect.tap(({ status }) => (chargedStatuses.has(status) ? chargeAccount : Effect.void)),
      Effect.flatMap((response) => buffered(response, settings.maxBodyBytes)),
      Effect.flatMap(failUnlessAnswered),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(new RequestFailed({ reason: "timeout" })),
      }),
    );

  return (request: HttpClientRequest.HttpClientRequest, deadline: Deadline) =>
    Effect.gen(function* () {
      const account = yield* TurnAccount;
      const owner = yield* turnOwner;
      const timedSend = Effect.flatMap(millisUntil(deadline), (left) =>
        told(request, timed(send(request, Math.min(left, Duration.toMillis(settings.attemptTimeout))))),
      );
      const attempt = inTurn(turns, owner, deadline, circuit(account, timedSend));
      return yield* (yield* Urgency) === "answer" ? attempt : inTurn(background, owner, deadline, attempt);
    }).pipe(counted);
});

const chargedStatuses: ReadonlySet<number> = new Set([401, 403, 404, 429]);

const checkAccount = Effect.flatMap(ChargedAccount, (account) =>
  account === null
    ? Effect.void
    : Effect.mapError(account.check, (refusal) => new RequestFailed({ reason: "account_limited", refusal })),
);

const chargeAccount = Effect.flatMap(ChargedAccount, (account) => account?.charge ?? Effect.void);

const millisUntil = (deadline: Deadline) => Effect.map(monotonicMillis, (now) => Math.max(0, deadline - now));

const withinDeadline = <A, E, R>(wait: Effect.Effect<A, E, R>, deadline: Deadline) =>
  Effect.flatMap(millisUntil(deadline), (duration) =>
    Effect.timeoutOrElse(wait, { duration, orElse: failBusy }),
  );

const inTurn = <A>(
  turns: Turns,
  account: string,
  deadline: Deadline,
  attempt: Effect.Effect<A, RequestFailed>,
): Effect.Effect<A, RequestFailed> =>
  Effect.flatMap(millisUntil(deadline), (left) =>
    Effect.catchTag(turns.stepWithin(account, left, attempt), "TurnRefused", failBusy),
  );

/** Every request except a POST is safe to repeat. Even a PATCH is, because adapters use it only to set values. */
const isRepeatable = ({ method }: HttpClientRequest.HttpClientRequest): boolean => method !== "POST";

const transientStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Whether the same request may succeed a moment later. */
const isTransient = ({ reason, status = 0 }: RequestFailed): boolean =>
  reason === "connection" || reason === "timeout" || (reason === "status" && transientStatuses.has(status));

/** The pause before the first retry after a 429 that does not say when to retry, in milliseconds. */
const limitedBackoff = 1_000;

const pauseBeforeRetry = ({ status, retryAfter }: RequestFailed, retry: number, { backoff }: Resilience) =>
  Effect.map(Random.next, (random) => {
    if (status === 429 && retryAfter === undefined) return limitedBackoff * 2 ** retry * (1 + random / 10);
    const pause = Math.round(Duration.toMillis(backoff) * 2 ** retry * (1 - random / 2));
    return Math.max(pause, Duration.toMillis(retryAfter ?? Duration.zero));
  });

const failUnlessAnswered = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { status, headers } = response;
  if (status < 500 && status !== 429) return response;

  const now = yield* Clock.currentTimeMillis;
  const retryAfter = retryDelay(headers, now);
  return yield* new RequestFailed({ reason: "status", status, ...(retryAfter && { retryAfter }) });
});

/** Returns how long the platform asks to wait, undefined if it does not say. */
const retryDelay = (headers: Headers.Headers, now: number): Duration.Duration | undefined => {
  const wait = Headers.parseRetryAfter(headers["retry-after"] ?? "");
  if (Result.isSuccess(wait)) return Headers.retryAfterDelay(wait.success, now);
  // Roblox states seconds. A long number is a time, which platforms send beside a Retry-After.
  const reset = headers["x-ratelimit-reset"] ?? "";
  return /^\d{1,6}$/.test(reset) ? Duration.seconds(Number(reset)) : undefined;
};

/** Returns the response with its body in memory. A body over the limit closes the connection. */
const buffered = (
  response: HttpClientResponse.HttpClientResponse,
  maxBodyBytes: number,
): Effect.Effect<HttpClientResponse.HttpClientResponse, RequestFailed> =>
  Effect.map(readBody(response, maxBodyBytes), (body) => {
    const { request, status, headers } = response;
    // `Response` refuses a body, even an empty one, for statuses such as 204.
    const source = new Response(body.byteLength === 0 ? null : body, { status, headers });
    return HttpClientResponse.fromWeb(request, source);
  });

const readBody = (response: HttpClientResponse.HttpClientResponse, maxBodyBytes: number) =>
  response.stream.pipe(
    Stream.catchTag("HttpClientError", (error) =>
      error.reason._tag === "EmptyBodyError" ? Stream.empty : Stream.fail(brokenConnection(error)),
    ),
    Stream.limitBytes(ByteSize.bytes(maxBodyBytes), () =>
      Stream.fail(new RequestFailed({ reason: "too_large", status: response.status })),
    ),
    Stream.mkUint8Array,
  );

/**
 * Converts the error of a failed connection. Only the error code of the system is kept, because the error contains the
 * whole request.
 */
const brokenConnection = (error: HttpClientError.HttpClientError): RequestFailed => {
  const code = codeOf(error.cause);
  return new RequestFailed({ reason: "connection", ...(code === undefined ? {} : { code }) });
};

const codeOf = (cause: unknown): string | undefined => {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if ("code" in error && /^[A-Z][A-Z0-9_]+$/.test(String(error.code))) return String(error.code);
  }
  return undefined;
};

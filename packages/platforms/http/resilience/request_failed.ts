import { PlatformUnavailable } from "@accountlink/core";
import type { RateLimited } from "@accountlink/core/errors";
import { Data, Duration, Effect } from "effect";

/** Why a request failed. The metric `platformRequests` uses the reason as its label `outcome`. */
export type FailureReason =
  /** The connection failed, or broke before the whole response arrived. */
  | "connection"
  | "timeout"
  /** The request waited too long for a free slot or a rate limit. */
  | "busy"
  /** The account that asks has caused too many refusals: the request was not sent. */
  | "account_limited"
  /** The circuit is open: the request was not sent. */
  | "circuit_open"
  | "status"
  /** A body over the limit. */
  | "too_large"
  /** A body that does not match the schema. */
  | "unreadable"
  /** A request that cannot be sent, such as one with an invalid URL. */
  | "unsendable";

/** A failed request to a platform. It contains no URL, header or body, so it is safe to log. */
export class RequestFailed extends Data.TaggedError("RequestFailed")<{
  readonly reason: FailureReason;
  readonly status?: number;
  /** The system's error code, such as `ECONNREFUSED`. */
  readonly code?: string;
  /** How long the platform asks clients to wait. */
  readonly retryAfter?: Duration.Duration;
  /** The limit of the account that asks. */
  readonly refusal?: RateLimited;
  /** The route and the field of an unreadable body, for platforms whose operator can correct it. */
  readonly wrong?: { readonly route: string; readonly field: string };
}> {
  override readonly message = `Cannot ask the platform: ${describe(this)}`;
}

/** Fails because the request waited too long to be sent. @internal */
export const failBusy = () => Effect.fail(new RequestFailed({ reason: "busy" }));

/**
 * Whether the platform did not answer. One that sends a 429 or a body over the limit is reachable.
 *
 * @internal
 */
export const isOutage = ({ reason, status = 0 }: RequestFailed): boolean =>
  reason === "connection" || reason === "timeout" || status >= 500;

/** Whether a request failed although the platform may have done what it asks. @internal */
export const mayHaveActed = (error: unknown): boolean =>
  error instanceof PlatformUnavailable &&
  (!(error.cause instanceof RequestFailed) ||
    isOutage(error.cause) ||
    error.cause.reason === "too_large" ||
    error.cause.reason === "unreadable");

const describe = ({ reason, status, code, wrong }: RequestFailed): string =>
  ({
    connection: `the connection failed${code === undefined ? "" : ` with "${code}"`}`,
    timeout: "it did not answer in time",
    busy: "the request waited too long to be sent",
    account_limited: "it refused too many requests of the account",
    circuit_open: "too many requests failed before",
    status: `the status is "${status}"`,
    too_large: "the response is too large",
    unreadable:
      wrong === undefined
        ? "the response is not the expected one"
        : `its response to ${wrong.route} has no right ${wrong.field}`,
    unsendable: "the request cannot be sent",
  })[reason];

/**
 * Maps the failure to the error of the platform ports.
 *
 * @param operation the operation that failed, such as `ChatPlatform.findMember`
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const failed = new RequestFailed({ reason: "status", status: 500 });
 * failed.message; // 'Cannot ask the platform: the status is "500"'
 * const error = Effect.runSync(Effect.flip(asUnavailable("GamePlatform.hasUser")(Effect.fail(failed))));
 * [error.code, error.operation]; // ["INTERNAL_ERROR", "GamePlatform.hasUser"]
 * ```
 */
export const asUnavailable =
  (operation: string) =>
  <A, R>(effect: Effect.Effect<A, RequestFailed, R>): Effect.Effect<A, PlatformUnavailable, R> =>
    Effect.mapError(effect, (cause) => {
      const { status, retryAfter = Duration.zero, refusal } = cause;
      const refused = refusal && { refusal, retryAfterMs: refusal.retryAfter * 1_000 };
      const limited = status === 429 ? { retryAfterMs: Duration.toMillis(retryAfter) } : {};
      return new PlatformUnavailable({ operation, cause, ...(refused ?? limited) });
    });

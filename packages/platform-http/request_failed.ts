/**
 * Why a platform gave no answer that can be used.
 */
import { PlatformUnavailable } from "@accountlink/core";
import { Data, Duration, Effect } from "effect";

/** What went wrong, also the label of the metric. */
export type FailureReason =
  /** No connection, or one that broke before the whole answer was there. */
  | "connection"
  /** The attempt took too long. */
  | "timeout"
  /** No place became free within the deadline. */
  | "busy"
  /** The circuit is open: the request was not sent. */
  | "circuit_open"
  /** A status that is no answer to what was asked. */
  | "status"
  /** A body over the limit. */
  | "too_large"
  /** An answer that is not what the platform promised. */
  | "unreadable"
  /** A request that cannot be sent, such as to an address that is not one. */
  | "unsendable";

/** A request to a platform that failed. It holds no address, header or body, so it can be logged. */
export class RequestFailed extends Data.TaggedError("RequestFailed")<{
  readonly reason: FailureReason;
  /** The status of the answer, if there was one. */
  readonly status?: number;
  /** The system's code, such as `ECONNREFUSED`. */
  readonly code?: string;
  /** How long the platform asks to be left alone. */
  readonly retryAfter?: Duration.Duration;
}> {
  override readonly message = `Cannot ask the platform: ${describe(this)}`;
}

const describe = ({ reason, status, code }: RequestFailed): string =>
  ({
    connection: `the connection failed${code === undefined ? "" : ` with "${code}"`}`,
    timeout: "the answer did not come in time",
    busy: "no place became free in time",
    circuit_open: "too many requests failed before it",
    status: `the status is "${status}"`,
    too_large: "the answer is too large",
    unreadable: "the answer is not what was promised",
    unsendable: "the request cannot be sent",
  })[reason];

/**
 * Names the operation that failed and makes the failure the one that ports know.
 *
 * @param operation what was being done, such as `ChatPlatform.findMember`
 */
export const asUnavailable =
  (operation: string) =>
  <A, R>(effect: Effect.Effect<A, RequestFailed, R>): Effect.Effect<A, PlatformUnavailable, R> =>
    Effect.mapError(effect, (cause) => new PlatformUnavailable({ operation, cause }));

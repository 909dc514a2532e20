/**
 * The errors of calls, for programs that handle them elsewhere than the service, such as in a browser.
 */
import type { PublicError } from "@accountlink/core/errors";
import { Data } from "effect";

export {
  BulkLimitExceeded,
  Conflict,
  Forbidden,
  InternalError,
  InvalidParameter,
  LinkNotFound,
  MissingParameter,
  PlatformUnavailable,
  RateLimited,
  SessionExpired,
  SessionNotFound,
  StoreUnavailable,
} from "@accountlink/core/errors";

/** A service was used after it was closed, or closed while it was used. */
export class AccountLinkClosed extends Data.TaggedError("AccountLinkClosed")<{}> {
  readonly code = "CLOSED";
  readonly status = 503;
  readonly details = null;
  override readonly message = "Cannot call accountlink: it is closed";
}

/**
 * Everything that a call rejects with. Each has a `code`, `details`, and the `status` that it has over HTTP. A bug is an
 * `InternalError` with its `cause`.
 */
export type AccountLinkError = PublicError | AccountLinkClosed;

/**
 * The errors of calls.
 */
import type { PublicError } from "@accountlink/core";
import { Data } from "effect";

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

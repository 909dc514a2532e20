/** Why a person could not sign in. */
import { Data } from "effect";

/**
 * - `denied`: the user denied it at the platform.
 * - `invalid`: it was not begun by this browser, was used already, or the platform refused it.
 * - `platform_down`: the platform does not answer; `cause` is its `PlatformUnavailable`.
 */
export type SignInRefusal = "denied" | "invalid" | "platform_down";

/** A sign-in that did not succeed. */
export class SignInRefused extends Data.TaggedError("SignInRefused")<{
  readonly reason: SignInRefusal;
  readonly cause?: unknown;
}> {
  override readonly message = `Cannot sign in: ${this.reason}`;
}

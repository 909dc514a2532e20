import { Data } from "effect";

/**
 * - `denied`: the user denied the sign-in at the platform.
 * - `invalid`: this browser did not begin the sign-in, the sign-in was already used, or the platform refused it.
 * - `platform_down`: the platform does not answer; `cause` is its `PlatformUnavailable`.
 */
export type SignInRefusal = "denied" | "invalid" | "platform_down";

export class SignInRefused extends Data.TaggedError("SignInRefused")<{
  readonly reason: SignInRefusal;
  readonly cause?: unknown;
}> {
  override readonly message = `Cannot sign in: ${this.reason}`;
}

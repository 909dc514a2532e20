/** The rules by which sessions change, for stores that apply them to a session they hold. */
import type { Millis } from "../timestamp.ts";
import type { CreationBurst } from "./session_store.ts";
import type { SessionStep, VerificationSession } from "./verification_session.ts";

/** The session after a step that `canAdvance` allows. */
export const advancedSession = (session: VerificationSession, to: SessionStep): VerificationSession => ({
  ...session,
  state: to,
  change: session.change + 1,
});

/** The session after its link or scope was removed. */
export const failedSession = (session: VerificationSession): VerificationSession => ({
  ...session,
  state: "failed",
  error: "link_removed",
  change: session.change + 1,
});

/**
 * Takes one creation from the token bucket of a key, which is kept as the time at which it is full.
 *
 * @param fullAt when the bucket is full again; undefined for a key without sessions
 * @returns when it is full after this creation; or, if it is empty, when the next can be created
 */
export const takeFromBurst = (
  fullAt: Millis | undefined,
  { capacity, refillMs }: CreationBurst,
  at: Millis,
): { readonly fullAt: Millis } | { readonly readyAt: Millis } => {
  const from = Math.max(fullAt ?? at, at);
  const readyAt = from - (capacity - 1) * refillMs;
  return readyAt > at ? { readyAt } : { fullAt: from + refillMs };
};

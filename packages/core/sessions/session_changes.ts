/** The rules by which sessions change, for stores that apply them to a session they hold. */
import type { Millis } from "../timestamp.ts";
import type { CreationBurst } from "./session_store.ts";
import type { SessionStep, VerificationSession } from "./verification_session.ts";

/**
 * The session after a step that `canAdvance` allows.
 *
 * @example
 * ```ts
 * import { Pid } from "@accountlink/core";
 * import { makeKey, makeSession } from "@accountlink/testing";
 *
 * const scope = { kind: "global", pid: Pid.make("pid_0123456789abcdefghij"), account: "acme" } as const;
 * const session = makeSession(makeKey(scope));
 * canAdvance(session, "opened", 0); // true
 * const opened = advancedSession(session, "opened");
 * canAdvance(opened, "opened", 0); // false
 * const failed = failedSession(opened);
 * [session, opened, failed].map(({ state }) => isFinal(state)); // [false, false, true]
 * failed.change; // 3
 * ```
 */
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
 *
 * @example
 * ```ts
 * const burst = { capacity: 2, refillMs: 10_000 };
 * takeFromBurst(undefined, burst, 0); // { fullAt: 10000 }
 * takeFromBurst(10_000, burst, 0); // { fullAt: 20000 }
 * takeFromBurst(20_000, burst, 0); // { readyAt: 10000 }
 * ```
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

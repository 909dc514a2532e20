/**
 * Quotas: how fast and how much a key, and a client address, may ask.
 */
import { Context } from "effect";

/** Verification traffic (all session routes) has day quotas of its own and no pacing. */
export type Traffic = "mapping" | "verify";

/** What one key may do. `null` is without a limit. */
export interface Quota {
  /** Requests per window. */
  readonly perWindow: number | null;
  /** Length of the window in milliseconds; it starts with the first request in it. */
  readonly windowMs: number;
  /** Requests per UTC day. */
  readonly daily: number | null;
  /** Verification requests per UTC day, counted apart from the others. */
  readonly verifyDaily: number | null;
}

/** The numbers of a tier. 0 turns a rule off. */
export interface TierLimits {
  readonly keys: number;
  readonly perWindow: number;
  readonly windowMs: number;
  readonly daily: number;
  readonly verifyDaily: number;
}

/** The numbers for one client address, whatever keys it uses. 0 turns a rule off. */
export interface AddressLimits {
  readonly perSecond: number;
  readonly daily: number;
  readonly verifyDaily: number;
  /** Failed authentications per minute. */
  readonly authFailures: number;
}

/** Every limit of a deployment. */
export interface LimitSettings {
  readonly free: TierLimits;
  readonly premium: TierLimits;
  readonly address: AddressLimits;
}

/** The limits of this deployment; provide another value to change them. */
export const Limits = Context.Reference<LimitSettings>("@accountlink/core/Limits", {
  defaultValue: () => ({
    free: { keys: 2, perWindow: 1, windowMs: 2_000, daily: 500, verifyDaily: 2_000 },
    premium: { keys: 10, perWindow: 1, windowMs: 1_000, daily: 2_500, verifyDaily: 10_000 },
    address: { perSecond: 20, daily: 10_000, verifyDaily: 10_000, authFailures: 30 },
  }),
});

/** The limits set on one key: none at all, or numbers that replace those of its tier. */
export type KeyLimits =
  | "none"
  | {
      readonly perWindow?: number;
      readonly windowMs?: number;
      readonly daily?: number;
      readonly verifyDaily?: number;
    };

const limitOrNone = (count: number): number | null => (count > 0 ? count : null);

/**
 * The quota in force for a key: its own numbers where it has them, its tier's elsewhere.
 *
 * @example
 * ```ts
 * const free = { keys: 2, perWindow: 1, windowMs: 2000, daily: 500, verifyDaily: 2000 };
 * quotaOf({ daily: 10 }, free); // { perWindow: 1, windowMs: 2000, daily: 10, verifyDaily: 2000 }
 * ```
 */
export const quotaOf = (limits: KeyLimits, tier: TierLimits): Quota => {
  if (limits === "none") return { perWindow: null, windowMs: 0, daily: null, verifyDaily: null };
  const windowMs = limits.windowMs ?? tier.windowMs;
  return {
    perWindow: windowMs > 0 ? limitOrNone(limits.perWindow ?? tier.perWindow) : null,
    windowMs,
    daily: limitOrNone(limits.daily ?? tier.daily),
    verifyDaily: limitOrNone(limits.verifyDaily ?? tier.verifyDaily),
  };
};

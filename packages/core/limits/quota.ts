import { Context } from "effect";

/**
 * `verify` is the traffic of all session routes. It has its own daily limits, and does not count against the short
 * window of a key. `mapping` is all other traffic.
 */
export type Traffic = "mapping" | "verify";

/** The limits of one API key. `null` means unlimited. */
export interface Quota {
  readonly perWindow: number | null;
  /** The duration of a window in milliseconds. A window starts with its first request. */
  readonly windowMs: number;
  /** The most requests per UTC day, not counting verification requests. */
  readonly daily: number | null;
  /** The most verification requests per UTC day. `daily` does not include these requests. */
  readonly verifyDaily: number | null;
}

/** The default limits of a tier. A limit of 0 means unlimited. */
export interface TierLimits {
  readonly keys: number;
  /** The most links of an account, over all its scopes. */
  readonly links: number;
  readonly perWindow: number;
  readonly windowMs: number;
  readonly daily: number;
  readonly verifyDaily: number;
}

/** The limits of one client address, over all normal keys that it uses. A limit of 0 means unlimited. */
export interface AddressLimits {
  readonly perSecond: number;
  /** Requests per second for pages. They do not count against `perSecond`. */
  readonly pagesPerSecond: number;
  readonly daily: number;
  readonly verifyDaily: number;
  /** Failed authentications per minute. */
  readonly authFailures: number;
}

export interface LimitSettings {
  readonly free: TierLimits;
  readonly premium: TierLimits;
  readonly address: AddressLimits;
  /** The most changes of an account on the dashboard per UTC day. 0 means unlimited. */
  readonly dashboardDaily: number;
}

/**
 * The limits of this deployment. Provide another value to change the defaults.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect";
 *
 * // For `Layer.provide` below the services of a deployment.
 * const limits = Layer.effect(
 *   Limits,
 *   Effect.map(Limits, (usual) => ({ ...usual, free: { ...usual.free, daily: 1_000 } })),
 * );
 * const daily = Effect.map(Limits, ({ free, premium }) => [free.daily, premium.daily]);
 * await Effect.runPromise(Effect.provide(daily, limits)); // [1000, 2500]
 * ```
 */
export const Limits = Context.Reference<LimitSettings>("@accountlink/core/Limits", {
  defaultValue: () => ({
    free: { keys: 2, links: 100_000, perWindow: 1, windowMs: 2_000, daily: 500, verifyDaily: 2_000 },
    premium: { keys: 10, links: 5_000_000, perWindow: 1, windowMs: 1_000, daily: 2_500, verifyDaily: 10_000 },
    address: { perSecond: 20, pagesPerSecond: 60, daily: 10_000, verifyDaily: 10_000, authFailures: 30 },
    dashboardDaily: 2_000,
  }),
});

/** @internal */
export const keyKinds = ["normal", "partner", "staff"] as const;

/** `partner` and `staff` keys do not count against the account's plan, nor their requests against address limits. */
export type KeyKind = (typeof keyKinds)[number];

/** The limits set on one key: unlimited, or numbers that override the tier's. */
export type KeyLimits =
  | "none"
  | Partial<Pick<TierLimits, "perWindow" | "windowMs" | "daily" | "verifyDaily">>;

const limitOrNone = (count: number): number | null => (count > 0 ? count : null);

/** Returns the quota of a key: its own numbers, else the tier's. @internal */
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

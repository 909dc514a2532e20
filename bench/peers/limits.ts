/** Limits of the peers. */
import { Refusal } from "./answers.ts";

const dayMs = 86_400_000;

/** When the day of a moment ends. */
export const midnightAfter = (now: number): number => (Math.floor(now / dayMs) + 1) * dayMs;

/** Limits of the client address that are counted, and never reached. */
export const addressLimits = { perSecond: 1_000_000_000, daily: 1_000_000_000 };

/** The refusal by a full window. */
export const tooMany = (bucket: string): Refusal => {
  const code = bucket.startsWith("ip_") ? "SHARED_IP_RATE_LIMITED" : "RATE_LIMITED";
  return new Refusal(429, code, "Too many requests", { bucket });
};

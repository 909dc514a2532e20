import type { CounterRule } from "@accountlink/core/limits";
import { Clock } from "effect";
import { uniqueText } from "../../mod.ts";

export const minute = 60_000;

export const ruleOf = (limit: number, parts: Partial<CounterRule> = {}): CounterRule => ({
  key: uniqueText(),
  limit,
  durationMs: minute,
  ...parts,
});

/**
 * The current time. Cases cannot start at another time, because servers drop windows that have ended by the server's
 * clock.
 */
export const start = Clock.currentTimeMillis;

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

/** Tests start at the current time, because servers drop ended windows by their own clocks. */
export const start = Clock.currentTimeMillis;

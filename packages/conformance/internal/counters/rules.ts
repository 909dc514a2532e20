import type { CounterRule } from "@accountlink/core";
import { Clock } from "effect";
import { uniqueText } from "../../world.ts";

export const minute = 60_000;

export const ruleOf = (limit: number, parts: Partial<CounterRule> = {}): CounterRule => ({
  key: uniqueText(),
  limit,
  durationMs: minute,
  ...parts,
});

/** A time near the real one, since an adapter may let its server forget what is long over. */
export const start = Clock.currentTimeMillis;

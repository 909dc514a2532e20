import { CacheMemory } from "@accountlink/cache-memory";
import { Counters } from "@accountlink/core";
import type { Checkpoint } from "@accountlink/core/limits";
import { Effect } from "effect";
import { countersSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

type Shape = Counters["Service"];

/** Counts each rule separately. */
const oneByOne = (counters: Shape): Shape["admit"] =>
  Effect.fnUntraced(function* (rules, now) {
    const admissions = yield* Effect.forEach(rules, (rule) => counters.admit([rule], now));
    return {
      admitted: admissions.every(({ admitted }) => admitted),
      states: admissions.flatMap(({ states }) => states),
    };
  });

type Rules = Parameters<Shape["admit"]>[0];

const withCheckpoints = (rules: Rules, change: (checkpoint: Checkpoint) => Checkpoint | undefined): Rules =>
  rules.map(({ checkpoint, ...rule }) => {
    const changed = checkpoint === undefined ? undefined : change(checkpoint);
    return changed === undefined ? rule : { ...rule, checkpoint: changed };
  });

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(countersSuite, CacheMemory.layer, Counters, {
  "concurrent requests never exceed a limit": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const states = yield* counters.read(rules, now);
      yield* Effect.yieldNow;
      const admitted = rules.every(({ limit }, i) => (states[i]?.count ?? 0) < limit);
      if (!admitted) return { admitted, states };
      return yield* counters.admit(
        rules.map((rule) => ({ ...rule, limit: Number.MAX_SAFE_INTEGER })),
        now,
      );
    }),
  }),
  "concurrent requests count one after the other": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const { admitted } = yield* counters.admit(rules, now);
      yield* Effect.yieldNow;
      return { admitted, states: yield* counters.read(rules, now) };
    }),
  }),
  "a request counts in all of its windows or in none": (counters) => ({ admit: oneByOne(counters) }),
  "any sequence of requests agrees with the model": (counters) => ({ admit: oneByOne(counters) }),
  "a window admits up to its limit, and starts with the first count": (counters) => ({
    read: (rules, now) => Effect.map(counters.admit(rules, now), ({ states }) => states),
  }),
  "a window ends exactly at its end": (counters) => ({
    admit: (rules, now) => counters.admit(rules, now - 1),
  }),
  "a durable window from before the counters is forgotten until it has a floor": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        withCheckpoints(rules, () => undefined),
        now,
      ),
  }),
  "a floor of 0 restores a durable window without counts": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        withCheckpoints(rules, (checkpoint) => ({
          ...checkpoint,
          floor: checkpoint.floor === 0 ? null : checkpoint.floor,
        })),
        now,
      ),
  }),
  "a request with forgotten windows counts nothing, and reports each of them": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const admission = yield* counters.admit(rules, now);
      if (admission.forgotten !== undefined)
        yield* counters.admit(
          withCheckpoints(rules, () => undefined),
          now,
        );
      return admission;
    }),
  }),
  "a floor raises the count before the decision, and never lowers it": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        withCheckpoints(rules, (checkpoint) => ({
          ...checkpoint,
          floor: checkpoint.floor === null ? null : Math.min(checkpoint.floor, 4),
        })),
        now,
      ),
  }),
  "unsynced counts are added, also by a refused request": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        withCheckpoints(rules, (checkpoint) => ({ ...checkpoint, unsynced: 0 })),
        now,
      ),
  }),
  "a checkpoint applies only to the window with the end of the rule": (counters) => ({
    admit: Effect.fnUntraced(function* (rules, now) {
      const states = yield* counters.read(rules, now);
      const atTheirEnds = rules.map((rule, i) => ({
        ...rule,
        durationMs: (states[i]?.resetsAt ?? now) - now,
      }));
      return yield* counters.admit(atTheirEnds, now);
    }),
  }),
  "a limit of 0 or less admits nothing": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        rules.map((rule) => ({ ...rule, limit: rule.limit <= 0 ? 1 : rule.limit })),
        now,
      ),
  }),
  "keys keep every Unicode text distinct": (counters) => ({
    admit: (rules, now) =>
      counters.admit(
        rules.map((rule) => ({ ...rule, key: rule.key.toLowerCase() })),
        now,
      ),
  }),
});

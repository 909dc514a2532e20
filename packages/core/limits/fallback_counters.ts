import { Context, Effect, Layer, Metric } from "effect";
import { type CounterRule, Counters } from "./counters.ts";

/** @internal */
export const countsAlone = Metric.gauge("accountlink_limits_alone", {
  description: "Whether this node counts alone, since the shared counters do not answer: 1 or 0",
});

/**
 * Shared counters, and counters of this node alone that decide while the shared ones do not answer. The node's counters
 * also count what the shared ones admit, so a limit that this node used up stays used up in an outage.
 *
 * @param local counters of this node, such as `CacheMemory.layer`
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/memory";
 * import { Layer } from "effect";
 *
 * const counters = FallbackCounters.layer(CacheMemory.layer).pipe(
 *   Layer.provide(CacheMemory.layer), // In place of counters that all nodes share.
 * );
 * ```
 */
export const layer = (local: Layer.Layer<Counters>): Layer.Layer<Counters, never, Counters> =>
  Effect.gen(function* () {
    const shared = yield* Counters;
    const alone = Context.get(yield* Layer.build(Layer.fresh(local)), Counters);
    const context = yield* Effect.context();
    // Updated directly, because an effect for each request would cost more than the change is worth.
    const setAlone = (isAlone: boolean) => countsAlone.updateUnsafe(isAlone ? 1 : 0, context);
    setAlone(false);

    return Counters.of({
      admit: (rules, now) =>
        // Without rules the shared counters are not asked, so their result says nothing about an outage.
        rules.length === 0
          ? alone.admit(rules, now)
          : Effect.matchEffect(shared.admit(rules, now), {
              onSuccess: (admission) => {
                setAlone(false);
                return admission.admitted
                  ? Effect.as(alone.admit(rules.map(withoutLimit), now), admission)
                  : Effect.succeed(admission);
              },
              onFailure: () => {
                setAlone(true);
                return alone.admit(rules, now);
              },
            }),
      hasRoom: (rules, now) =>
        Effect.map(alone.read(rules, now), (states) =>
          states.every(({ count }, index) => count < (rules[index]?.limit ?? 0)),
        ),
      read: (rules, now) => shared.read(rules, now).pipe(Effect.catch(() => alone.read(rules, now))),
    });
  }).pipe(Layer.effect(Counters));

const withoutLimit = (rule: CounterRule): CounterRule => ({ ...rule, limit: Number.POSITIVE_INFINITY });

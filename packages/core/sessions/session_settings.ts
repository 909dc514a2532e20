import { Context } from "effect";

/**
 * Durations are in milliseconds. 0 turns a rule off; but `life` must be positive, and a `sightingRetention` of 0 stores
 * no sightings.
 */
export interface SessionRules {
  /** How long a session can be completed and read. */
  readonly life: number;
  /** How long after the beginning of a read of a session the next read may begin. */
  readonly pollInterval: number;
  readonly pollLimit: number;
  readonly longPollMax: number;
  /** The longest duration of a stream. */
  readonly streamMax: number;
  /** How many sessions a key can create at once. */
  readonly createBurst: number;
  /** Time until a key can create another session. */
  readonly createRefill: number;
  /** How long a sighting is kept after the user was last seen at that address or in that browser. */
  readonly sightingRetention: number;
  /** How long a proof of a game account is offered to other communities. */
  readonly knownFor: number;
}

/**
 * The settings of this deployment. Provide another value to change the defaults.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect";
 *
 * // For `Layer.provide` below the services of a deployment.
 * const settings = Layer.effect(
 *   SessionSettings,
 *   Effect.map(SessionSettings, (usual) => ({ ...usual, life: 600_000 })),
 * );
 * const rules = Effect.map(SessionSettings, ({ life, pollLimit }) => [life, pollLimit]);
 * await Effect.runPromise(Effect.provide(rules, settings)); // [600000, 150]
 * ```
 */
export const SessionSettings = Context.Reference<SessionRules>("@accountlink/core/SessionSettings", {
  defaultValue: () => ({
    life: 300_000,
    pollInterval: 2_000,
    pollLimit: 150,
    longPollMax: 25_000,
    streamMax: 30_000,
    createBurst: 6,
    createRefill: 10_000,
    sightingRetention: 15_552_000_000,
    knownFor: 15_552_000_000,
  }),
});

/** Short-lived values in Redis. */
import { Cache } from "@accountlink/core";
import { Effect, Layer, Option } from "effect";
import { RedisConnections } from "./connections.ts";
import { ask } from "./internal/redis_failure.ts";

/**
 * A cache that all nodes share. An entry is kept as its deadline and its value: Redis drops it when its time is over by
 * Redis's clock, and whoever asks at or after the deadline does not see it, whatever that clock says.
 */
export const layer: Layer.Layer<Cache, never, RedisConnections> = Layer.effect(
  Cache,
  Effect.gen(function* () {
    const { commands, prefix } = yield* RedisConnections;
    const nameOf = (key: string) => `${prefix}cache:${key}`;
    return Cache.of({
      get: (key, now) =>
        Effect.map(
          ask("Cache.get", () => commands.get(nameOf(key))),
          (entry) => (entry === null ? Option.none() : valueOf(entry, now)),
        ),
      set: (key, value, expiresAt, now) => {
        const life = Math.ceil(expiresAt - now);
        const name = nameOf(key);
        return Effect.asVoid(
          ask<unknown>("Cache.set", () =>
            life > 0 ? commands.set(name, `${expiresAt} ${value}`, "PX", life) : commands.del(name),
          ),
        );
      },
    });
  }),
);

const valueOf = (entry: string, now: number): Option.Option<string> => {
  const space = entry.indexOf(" ");
  return now < Number(entry.slice(0, space)) ? Option.some(entry.slice(space + 1)) : Option.none();
};

import { Cache } from "@accountlink/core";
import { Effect, Layer, Option } from "effect";
import { RedisConnections } from "./connection/connections.ts";
import { runCommand } from "./connection/failure.ts";

/**
 * A cache that all nodes share. Redis drops entries by its own clock; readers also check the deadline that is stored
 * with the value.
 */
export const layer: Layer.Layer<Cache, never, RedisConnections> = Effect.gen(function* () {
  const { commands, prefix } = yield* RedisConnections;
  const keyOf = (key: string) => `${prefix}cache:${key}`;
  return Cache.of({
    get: (key, now) =>
      Effect.map(
        runCommand("Cache.get", () => commands.get(keyOf(key))),
        (entry) => (entry === null ? Option.none() : valueOf(entry, now)),
      ),
    set: (key, value, expiresAt, now) => {
      const ttl = Math.ceil(expiresAt - now);
      const redisKey = keyOf(key);
      return Effect.asVoid(
        runCommand<unknown>("Cache.set", () =>
          ttl > 0 ? commands.set(redisKey, `${expiresAt} ${value}`, "PX", ttl) : commands.del(redisKey),
        ),
      );
    },
  });
}).pipe(Layer.effect(Cache));

const valueOf = (entry: string, now: number): Option.Option<string> => {
  const space = entry.indexOf(" ");
  return now < Number(entry.slice(0, space)) ? Option.some(entry.slice(space + 1)) : Option.none();
};

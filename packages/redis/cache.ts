import { Cache } from "@accountlink/core";
import { Array as Arr, Effect, Layer, Option } from "effect";
import { RedisConnections } from "./connection/connections.ts";
import { runCommand } from "./connection/failure.ts";

/**
 * A cache that all nodes share. Redis drops entries by its own clock; readers also check the deadline that is stored
 * with the value.
 */
export const layer: Layer.Layer<Cache, never, RedisConnections> = Effect.gen(function* () {
  const { commands, prefix, isCluster } = yield* RedisConnections;
  // A cluster refuses one command with keys of several slots. Commands of one turn are one write.
  const read = (keys: ReadonlyArray<string>) =>
    isCluster ? Promise.all(keys.map((key) => commands.get(key))) : commands.mget(...keys);
  const keyOf = (key: string) => `${prefix}cache:${key}`;
  return Cache.of({
    get: (key, now) =>
      Effect.map(
        runCommand("Cache.get", () => commands.get(keyOf(key))),
        (entry) => valueOf(entry, now),
      ),
    getMany: (keys, now) =>
      keys.length === 0
        ? Effect.succeed([])
        : Effect.map(
            runCommand("Cache.getMany", () => read(keys.map(keyOf))),
            Arr.map((entry) => valueOf(entry, now)),
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

const valueOf = (entry: string | null, now: number): Option.Option<string> => {
  if (entry === null) return Option.none();
  const space = entry.indexOf(" ");
  return now < Number(entry.slice(0, space)) ? Option.some(entry.slice(space + 1)) : Option.none();
};

import {
  type Rest,
  StorageCheck,
  StorageIdentity,
  type StoragePorts,
  type StorageRefused,
  type StorageTooNew,
  StorageUse,
  type StoreUnavailable,
  waitForStorage,
} from "@accountlink/core";
import {
  claimSchema,
  isHalfMoved,
  newestSchema,
  readRootKey,
  readSchema,
  layer as storageLayer,
} from "@accountlink/kv";
import { Context, Data, type Duration, Effect, Layer } from "effect";
import {
  layer as connections,
  type InvalidRedisUrl,
  type RedisCommands,
  RedisConnections,
  type RedisDatabaseRefused,
  type RedisOptions,
  RedisUnusable,
} from "../connection/connections.ts";
import { runCommand } from "../connection/failure.ts";
import { pathOf } from "../connection/redis_url.ts";
import { inspect as inspectRedis } from "../inspect.ts";
import { type RedisKvOptions, redisKv } from "./redis_kv.ts";
import { readRest, readServers, storageUseOn, writeRest } from "./storage_place.ts";

export interface StorageRedisOptions extends RedisOptions {
  /** How long to wait for a Redis that is not up yet. No wait by default. */
  readonly startTimeout?: Duration.Input;
  /**
   * True for a server: other processes then know that it runs. False for a command that acts on nobody: it leaves it to
   * servers to find that the data is a copy. Neither by default.
   */
  readonly serves?: boolean;
}

/** The URL names a cluster. The storage needs one primary, because its commits change keys of every slot. @internal */
export class RedisClusterRefused extends Data.TaggedError("RedisClusterRefused")<{}> {
  override readonly message = "Cannot store data in a Redis cluster, expected one primary";
}

export type StorageRedisError =
  | InvalidRedisUrl
  | RedisDatabaseRefused
  | RedisClusterRefused
  | RedisUnusable
  | StorageRefused
  | StorageTooNew;

/**
 * Longer than for limits, since a large import may keep Redis busy. A silent connection is replaced after so long, and the
 * service recovers within 2 seconds.
 */
const commandTimeout = "1500 millis";

/** All storage ports in one Redis or Valkey of version 6 or later. */
export const layer = (options: StorageRedisOptions): Layer.Layer<StoragePorts, StorageRedisError> => {
  const connected = connectedTo(options);
  return Layer.unwrap(
    Effect.gen(function* () {
      const redis = yield* RedisConnections;
      const { address, commands, prefix } = redis;
      if (address.kind === "cluster") return yield* new RedisClusterRefused();
      const path = pathOf(address);
      const place = { key: placeKeyOf(redis), path, serves: options.serves };
      const check = yield* StorageCheck;
      const asked = Effect.mapError(foundIn(redis, path), (error) => unusable(path, error));
      yield* check(yield* waitForStorage(asked, options, ({ message }) => message));
      for (const risk of yield* risksOf(commands)) yield* Effect.logWarning(`Redis at "${path}" ${risk}`);
      const kvOptions =
        address.kind === "sentinel"
          ? { replicated: Context.get(yield* Layer.build(Layer.fresh(connected)), RedisConnections).commands }
          : {};
      const kv = kvOn(redis, kvOptions);
      yield* Effect.catchTag(claimSchema(kv), "StoreUnavailable", (error) => unusable(path, error));
      const adopted = identityOf(commands, `${prefix}store:identity`);
      const identity = yield* Effect.mapError(adopted, (error) => unusable(path, error));
      const use = yield* Effect.mapError(storageUseOn(commands, place), (error) => unusable(path, error));
      return Layer.mergeAll(
        storageLayer(Effect.succeed(kv)),
        Layer.succeed(StorageIdentity, identity),
        Layer.succeed(StorageUse, use),
      );
    }),
  ).pipe(Layer.provide(connected));
};

const connectedTo = (options: RedisOptions) => connections({ commandTimeout, ...options });

type Connections = RedisConnections["Service"];

const kvOn = ({ commands, prefix }: Connections, options?: RedisKvOptions) =>
  redisKv(commands, `${prefix}store:`, options);

const placeKeyOf = ({ prefix }: Connections): string => `${prefix}store:place`;

const foundIn = (redis: Connections, path: string) => {
  const kv = kvOn(redis);
  return Effect.all({
    rootKey: readRootKey(kv),
    rest: readRest(redis.commands, placeKeyOf(redis), path),
    isHalfMoved: isHalfMoved(kv),
  });
};

/**
 * Identifies the data of this Redis to the nodes that share limits and signals. A copy of the data has the same
 * identity.
 */
const identityOf = (commands: RedisCommands, key: string) =>
  runCommand("StorageIdentity.adopt", async () => {
    await commands.set(key, crypto.randomUUID(), "NX");
    return (await commands.get(key)) ?? "";
  });

const unusable = (path: string, { cause }: StoreUnavailable) =>
  new RedisUnusable({ path, reason: cause instanceof Error ? cause.message : "unknown" });

const setting = (commands: RedisCommands, name: string) =>
  Effect.map(Effect.option(runCommand("Redis.config", () => commands.config("GET", name))), (found) =>
    found._tag === "Some" ? ((found.value as ReadonlyArray<string>)[1] ?? null) : null,
  );

/** Returns how Redis may lose answered writes. A provider may hide the settings. */
const risksOf = Effect.fnUntraced(function* (commands: RedisCommands) {
  const risks: Array<string> = [];
  const fsync = yield* setting(commands, "appendfsync");
  if ((yield* setting(commands, "appendonly")) === "no") {
    risks.push("may lose answered writes: appendonly is no, expected yes, with appendfsync always");
  } else if (fsync !== null && fsync !== "always") {
    risks.push(`may lose answered writes: appendfsync is ${fsync}, expected always`);
  }
  const policy = yield* setting(commands, "maxmemory-policy");
  if (policy !== null && policy !== "noeviction") {
    risks.push(`may delete data: maxmemory-policy is ${policy}, expected noeviction`);
  }
  return risks;
});

export { openRows } from "@accountlink/kv";

/** Opens the engine itself. @internal */
export const openKv = (options: RedisOptions) =>
  Effect.map(Layer.build(connectedTo(options)), (context) => kvOn(Context.get(context, RedisConnections)));

const onStorage = <A, E>(options: RedisOptions, use: (redis: Connections) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(RedisConnections, use), connectedTo(options), { local: true });

/** Reads the state of a storage, without changing its data. @internal */
export const inspect = Effect.fn("StorageRedis.inspect")(function* (options: RedisOptions) {
  const state = yield* inspectRedis(options);
  return yield* onStorage(
    options,
    Effect.fnUntraced(function* (redis) {
      return {
        ...state,
        ...(yield* foundIn(redis, state.path)),
        risks: yield* risksOf(redis.commands),
        schema: { version: yield* readSchema(kvOn(redis)), newest: newestSchema },
      };
    }),
  );
});

/** Returns the servers that use a storage. @internal */
export const usersOf = (options: RedisOptions) =>
  onStorage(options, (redis) => readServers(redis.commands, placeKeyOf(redis)));

/** Makes a storage rest, or act. @internal */
export const restRedis = (options: RedisOptions, rest: Rest | null) =>
  onStorage(options, (redis) => writeRest(redis.commands, placeKeyOf(redis), rest));

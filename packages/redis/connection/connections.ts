/** The connections to Redis, which the counters, the cache and the signals share. */
import type { SecureContextOptions } from "node:tls";
import { StorageIdentity } from "@accountlink/core";
import { Context, Data, Duration, Effect, Layer, Option, Redacted } from "effect";
import { type Cluster, Redis } from "ioredis";
import { type ClientOptions, makersOf } from "./clients.ts";
import { isRefusedDatabase } from "./failure.ts";
import { ConnectionHealth, firstOutcome, keepPinging, watch } from "./health.ts";
import { forms, parse, type RedisAddress } from "./redis_url.ts";

export interface RedisOptions {
  /** A URL in one of the forms that the message of `InvalidRedisUrl` lists. */
  readonly url: Redacted.Redacted;
  /**
   * Prefix of every key and channel; `accountlink:` by default. The identity of a Postgres database is appended, so
   * several databases can share one Redis. A copy of a Postgres server's files has the same identity, so the copy needs
   * another prefix. Another Redis database number is not enough, because all databases of a Redis share channels.
   */
  readonly prefix?: string;
  /**
   * How long a command may take; 500 milliseconds by default. A command that takes longer fails, and a connection that
   * sent no reply for that long is replaced.
   */
  readonly commandTimeout?: Duration.Input;
  /**
   * For `rediss` URLs: the certificate authority of the server's certificate, and the client's own certificate and key.
   */
  readonly tls?: Pick<SecureContextOptions, "ca" | "cert" | "key">;
}

/**
 * The URL has none of the accepted forms. The message does not repeat the URL, since it may contain a password.
 *
 * @example
 * ```ts
 * import { CacheRedis } from "@accountlink/redis";
 * import { Effect, Layer, Redacted } from "effect";
 *
 * const cache = CacheRedis.layer({ url: Redacted.make("127.0.0.1") });
 * const error = await Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(cache))));
 * error instanceof CacheRedis.InvalidRedisUrl; // true
 * ```
 */
export class InvalidRedisUrl extends Data.TaggedError("InvalidRedisUrl")<{}> {
  override readonly message = `Cannot read the Redis URL, expected one of: ${forms.join(" ")}`;
}

/**
 * The server refuses to select the database of the URL: it has no database of that number, or its user may not select one.
 *
 * @example
 * ```ts
 * import { CacheRedis } from "@accountlink/redis";
 *
 * new CacheRedis.RedisDatabaseRefused({ database: 99 }).message; // "Cannot use database 99 of Redis: the server refuses it"
 * ```
 */
export class RedisDatabaseRefused extends Data.TaggedError("RedisDatabaseRefused")<{
  readonly database: number;
}> {
  override readonly message = `Cannot use database ${this.database} of Redis: the server refuses it`;
}

export class RedisConnections extends Context.Service<
  RedisConnections,
  {
    /** Runs all commands except pub/sub. While disconnected, commands fail at once. No command is sent twice. */
    readonly commands: RedisCommands;
    /** Publishes messages. In a cluster, it is connected to a single node, so that messages keep their order. */
    readonly publisher: Redis;
    /** Receives messages. It is in subscriber mode, which allows no other commands. */
    readonly subscriber: Redis;
    readonly prefix: string;
    /** Whether all keys of a script must share a slot. */
    readonly isCluster: boolean;
    readonly health: ConnectionHealth;
  }
>()("@accountlink/redis/RedisConnections") {}

export const defaultPrefix = "accountlink:";

export type RedisCommands = Pick<
  Redis,
  | "config"
  | "del"
  | "eval"
  | "evalsha"
  | "get"
  | "hmget"
  | "mget"
  | "pexpire"
  | "set"
  | "wait"
  | "zlexcount"
  | "zrangebylex"
>;

/**
 * Connects, and disconnects with the scope. Waits up to 2 seconds for the connections. An unreachable Redis does not
 * prevent the start; a failed attempt is followed by the next one within half a second. A refused database does.
 */
export const layer = (
  options: RedisOptions,
): Layer.Layer<RedisConnections, InvalidRedisUrl | RedisDatabaseRefused> =>
  Effect.gen(function* () {
    const { address, client } = yield* addressOf(options);
    const { prefix = defaultPrefix } = options;
    const identity = yield* StorageIdentity;
    const makers = makersOf(address, client);
    const health = new ConnectionHealth(yield* Effect.context());
    const commands = yield* open("commands", makers.commands, health);
    let isRefused = false;
    commands.on("error", (error: unknown) => {
      isRefused ||= isRefusedDatabase(error);
    });
    const publisher = commands instanceof Redis ? commands : yield* open("publisher", makers.single, health);
    const subscriber = yield* open("subscriber", makers.single, health);

    const clients = new Set([commands, publisher, subscriber]);
    yield* Effect.forEach(clients, firstOutcome, { concurrency: "unbounded", discard: true }).pipe(
      Effect.timeoutOption("2 seconds"),
    );
    if (isRefused && address.kind !== "cluster") {
      return yield* new RedisDatabaseRefused({ database: address.database });
    }
    return RedisConnections.of({
      commands,
      publisher,
      subscriber,
      prefix: identity === "" ? prefix : `${prefix}${identity}:`,
      isCluster: address.kind === "cluster",
      health,
    });
  }).pipe(Layer.effect(RedisConnections));

export const addressOf = (
  options: RedisOptions,
): Effect.Effect<{ readonly address: RedisAddress; readonly client: ClientOptions }, InvalidRedisUrl> => {
  const address = Option.getOrNull(parse(Redacted.value(options.url)));
  if (address === null) return Effect.fail(new InvalidRedisUrl());
  const commandTimeout = Duration.toMillis(options.commandTimeout ?? "500 millis");
  return Effect.succeed({ address, client: { commandTimeout, tls: options.tls ?? {} } });
};

const open = Effect.fnUntraced(function* <Client extends Redis | Cluster>(
  name: string,
  make: () => Client,
  health: ConnectionHealth,
) {
  const client = yield* Effect.acquireRelease(Effect.sync(make), (opened) =>
    Effect.sync(() => opened.disconnect()),
  );
  yield* watch(client, name, health);
  if (client instanceof Redis) yield* keepPinging(client, name, health);
  return client;
});

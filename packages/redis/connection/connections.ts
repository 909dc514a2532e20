/** The connections to Redis, which the counters, the cache and the signals share. */
import { StorageIdentity } from "@accountlink/core";
import { Context, Duration, Effect, Layer, Option, Redacted } from "effect";
import { type Cluster, Redis } from "ioredis";
import { pairProblem, refuseCertificate } from "./certificate.ts";
import { type ClientOptions, makersOf } from "./clients.ts";
import { isRefusedDatabase } from "./failure.ts";
import { type Check, ConnectionHealth, firstOutcome, keepPinging, refuseReplica, watch } from "./health.ts";
import { InvalidRedisUrl, RedisDatabaseRefused, type RedisOptions, RedisUnusable } from "./redis_options.ts";
import { parse, pathOf, type RedisAddress } from "./redis_url.ts";

export { InvalidRedisUrl, RedisDatabaseRefused, type RedisOptions, RedisUnusable } from "./redis_options.ts";

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
    readonly address: RedisAddress;
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
  | "hdel"
  | "hmget"
  | "hset"
  | "info"
  | "mget"
  | "pexpire"
  | "set"
  | "time"
  | "wait"
  | "zlexcount"
  | "zrangebylex"
>;

/**
 * Connects, and disconnects with the scope. Waits up to 2 seconds for the connections. An unreachable Redis does not
 * prevent the start; a failed attempt is followed by the next one within half a second. A refused database does, and a
 * certificate that does not hold.
 */
export const layer = (
  options: RedisOptions,
): Layer.Layer<RedisConnections, InvalidRedisUrl | RedisDatabaseRefused | RedisUnusable> =>
  Effect.gen(function* () {
    const { address, client } = yield* addressOf(options);
    const { prefix = defaultPrefix } = options;
    const identity = yield* StorageIdentity;
    const makers = makersOf(address, client);
    const health = new ConnectionHealth(yield* Effect.context());
    // The driver finds the primary of sentinels and of a cluster.
    const check = address.kind === "single" ? refuseReplica : undefined;
    const commands = yield* open("commands", makers.commands, health, check);
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
    yield* refuseCertificate(address, client, commands.status);
    return RedisConnections.of({
      commands,
      publisher,
      subscriber,
      prefix: identity === "" ? prefix : `${prefix}${identity}:`,
      address,
      isCluster: address.kind === "cluster",
      health,
    });
  }).pipe(Layer.effect(RedisConnections));

export const addressOf = Effect.fnUntraced(function* (
  options: RedisOptions,
): Effect.fn.Return<
  { readonly address: RedisAddress; readonly client: ClientOptions },
  InvalidRedisUrl | RedisUnusable
> {
  const address = Option.getOrNull(parse(Redacted.value(options.url)));
  if (address === null) return yield* new InvalidRedisUrl();
  const { tls = {} } = options;
  const problem = pairProblem(tls);
  if (problem !== null) return yield* new RedisUnusable({ path: pathOf(address), reason: problem });
  const commandTimeout = Duration.toMillis(options.commandTimeout ?? "500 millis");
  return { address, client: { commandTimeout, tls } };
});

const open = Effect.fnUntraced(function* <Client extends Redis | Cluster>(
  name: string,
  make: () => Client,
  health: ConnectionHealth,
  check: Check = () => Promise.resolve(),
) {
  const client = yield* Effect.acquireRelease(Effect.sync(make), (opened) =>
    Effect.sync(() => opened.disconnect()),
  );
  yield* watch(client, name, health, check);
  if (client instanceof Redis) yield* keepPinging(client, name, health, check);
  return client;
});

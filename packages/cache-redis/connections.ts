/** The connections to Redis that the ports share. */
import type { SecureContextOptions } from "node:tls";
import { Context, Data, Duration, Effect, Layer, Option, Redacted } from "effect";
import { type Cluster, Redis } from "ioredis";
import { type ClientOptions, makersOf } from "./internal/clients.ts";
import { firstOutcome, keepAsking, watch } from "./internal/health.ts";
import { ConnectionHealth } from "./redis_health.ts";
import { forms, parse, type RedisAddress } from "./redis_url.ts";

/** What the connections are made of. */
export interface RedisOptions {
  /** Where Redis is, in one of the forms of `RedisUrl.forms`. */
  readonly url: Redacted.Redacted;
  /**
   * What every key and channel starts with; `accountlink:` when left out. Deployments that share a Redis need one each,
   * also when they use different databases of it: channels belong to no database.
   */
  readonly prefix?: string;
  /**
   * How long a command may take, 500 milliseconds when left out. After it the command fails, and a connection over which
   * nothing came back for so long is given up for a new one.
   */
  readonly commandTimeout?: Duration.Input;
  /** For `rediss`: the authority that the server's certificate is checked against, and a certificate of one's own. */
  readonly tls?: Pick<SecureContextOptions, "ca" | "cert" | "key">;
}

/** The URL has none of the forms. What it is is not said, since it may hold a password. */
export class InvalidRedisUrl extends Data.TaggedError("InvalidRedisUrl")<{}> {
  override readonly message = `Cannot read the Redis URL, expected one of: ${forms.join(" ")}`;
}

/** The connections, and how names are made. */
export class RedisConnections extends Context.Service<
  RedisConnections,
  {
    /** Runs everything but pub/sub. A command fails at once while there is no connection; none is sent twice. */
    readonly commands: RedisCommands;
    /** Publishes; in a cluster always through the same node, so that messages keep their order. */
    readonly publisher: Redis;
    /** Is subscribed, and can do nothing else. */
    readonly subscriber: Redis;
    readonly prefix: string;
    /** The keys of one script have to be in one slot. */
    readonly isCluster: boolean;
    readonly health: ConnectionHealth;
  }
>()("@accountlink/cache-redis/RedisConnections") {}

/** The commands that are used. */
export type RedisCommands = Pick<Redis, "del" | "eval" | "evalsha" | "get" | "pexpire" | "set">;

/**
 * Opens the connections, and closes them with the scope. It waits for them up to 2 seconds; a Redis that is not there
 * by then does not stop the start, it is tried again until it is, at least every second.
 */
export const layer = (options: RedisOptions): Layer.Layer<RedisConnections, InvalidRedisUrl> =>
  Layer.effect(
    RedisConnections,
    Effect.gen(function* () {
      const { address, client } = yield* addressOf(options);
      const makers = makersOf(address, client);
      const health = new ConnectionHealth(yield* Effect.context());
      const commands = yield* open("commands", makers.commands, health);
      const publisher =
        commands instanceof Redis ? commands : yield* open("publisher", makers.single, health);
      const subscriber = yield* open("subscriber", makers.single, health);

      const clients = new Set([commands, publisher, subscriber]);
      yield* Effect.forEach(clients, firstOutcome, { concurrency: "unbounded", discard: true }).pipe(
        Effect.timeoutOption("2 seconds"),
      );
      return RedisConnections.of({
        commands,
        publisher,
        subscriber,
        prefix: options.prefix ?? "accountlink:",
        isCluster: address.kind === "cluster",
        health,
      });
    }),
  );

/** Where the options lead to, and what holds for every client of it. */
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
  if (client instanceof Redis) yield* keepAsking(client, name, health);
  return client;
});

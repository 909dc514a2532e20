/** Reads the state of a Redis server, for diagnostics. */
import { Data, Effect } from "effect";
import { makersOf } from "./connection/clients.ts";
import { addressOf, type InvalidRedisUrl, type RedisOptions } from "./connection/connections.ts";
import { reasonOf } from "./connection/failure.ts";
import { firstOutcome } from "./connection/health.ts";
import type { RedisAddress, RedisEndpoint } from "./connection/redis_url.ts";

export interface RedisState {
  /** `host:port`; all nodes of a cluster; or `master at host:port` for sentinels. */
  readonly path: string;
  /** The version of Redis, such as `7.2.4`. For Valkey, the Redis version it is compatible with. */
  readonly version: string;
  /** The setting `maxmemory-policy`, such as `noeviction`; null if Redis hides it. */
  readonly eviction: string | null;
}

/** Redis is unreachable, or refuses the login. @internal */
export class RedisUnusable extends Data.TaggedError("RedisUnusable")<{
  readonly path: string;
  /** One word, such as `ECONNREFUSED`, `WRONGPASS` or `timeout`. */
  readonly reason: string;
}> {
  override readonly message = `Cannot use Redis at "${this.path}": ${this.reason}`;
}

/** Reads the state of Redis, or of one node of a cluster, in at most 2 seconds plus `commandTimeout`. @internal */
export const inspect = Effect.fn("CacheRedis.inspect")(function* (
  options: RedisOptions,
): Effect.fn.Return<RedisState, InvalidRedisUrl | RedisUnusable> {
  const { address, client } = yield* addressOf(options);
  const path = pathOf(address);
  const makers = makersOf(address, client);
  return yield* Effect.acquireUseRelease(
    Effect.sync(makers.commands),
    (commands) => {
      let reason = "timeout";
      commands.on("error", (error: unknown) => {
        reason = reasonOf(error);
      });
      return firstOutcome(commands).pipe(
        Effect.timeoutOption("2 seconds"),
        Effect.andThen(
          Effect.tryPromise({
            try: () => commands.info(),
            // Without a connection, report why connecting failed.
            catch: (error) =>
              new RedisUnusable({ path, reason: commands.status === "ready" ? reasonOf(error) : reason }),
          }),
        ),
      );
    },
    (commands) => Effect.sync(() => commands.disconnect()),
  ).pipe(
    Effect.map((info) => ({
      path,
      version: fieldOf(info, "redis_version") ?? "unknown",
      eviction: fieldOf(info, "maxmemory_policy"),
    })),
  );
});

const fieldOf = (info: string, name: string): string | null =>
  new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? null;

const pathOf = (address: RedisAddress): string => {
  if (address.kind === "single") return endpointText(address);
  return address.kind === "cluster"
    ? address.nodes.map(endpointText).join(",")
    : `${address.master} at ${address.sentinels.map(endpointText).join(",")}`;
};

const endpointText = ({ host, port }: RedisEndpoint): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Looking at a Redis without using it. */
import { Data, Effect } from "effect";
import { addressOf, type InvalidRedisUrl, type RedisOptions } from "./connections.ts";
import { makersOf } from "./internal/clients.ts";
import { firstOutcome } from "./internal/health.ts";
import { reasonOf } from "./internal/redis_failure.ts";
import type { RedisAddress, RedisEndpoint } from "./redis_url.ts";

/** What there is behind a URL. */
export interface RedisState {
  /** Where it is: `host:port`, all of them for a cluster, `master at host:port` behind sentinels. */
  readonly path: string;
  /** The version of Redis, such as `7.2.4`; of a Valkey, the Redis that it stands in for. */
  readonly version: string;
  /** What it does when its memory is full: `noeviction`, or how it picks what is forgotten; null when it does not say. */
  readonly eviction: string | null;
}

/** Redis cannot be reached, or refuses the one who asks. */
export class RedisUnusable extends Data.TaggedError("RedisUnusable")<{
  readonly path: string;
  /** In a word: `ECONNREFUSED`, `WRONGPASS`, `timeout`. */
  readonly reason: string;
}> {
  override readonly message = `Cannot use Redis at "${this.path}": ${this.reason}`;
}

/** Asks Redis, in a cluster one node of it, what it is. It takes 3 seconds at most. */
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
            // While there is no connection, why there is none.
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

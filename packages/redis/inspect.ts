/** Reads the state of a Redis server, for diagnostics. */
import { clockLead } from "@accountlink/core/timestamp";
import { Data, Effect } from "effect";
import type { Cluster, Redis } from "ioredis";
import { refuseCertificate } from "./connection/certificate.ts";
import { makersOf } from "./connection/clients.ts";
import {
  addressOf,
  defaultPrefix,
  type InvalidRedisUrl,
  type RedisCommands,
  RedisDatabaseRefused,
  type RedisOptions,
  RedisUnusable,
} from "./connection/connections.ts";
import { errorReplyOf, isRefusedDatabase, reasonOf } from "./connection/failure.ts";
import { firstOutcome } from "./connection/health.ts";
import { pathOf } from "./connection/redis_url.ts";

export interface RedisState {
  /** The address, as messages name it. */
  readonly path: string;
  /** The version of Redis, such as `7.2.4`. For Valkey, the Redis version it is compatible with. */
  readonly version: string;
  /** The setting `maxmemory-policy`, such as `noeviction`; null if Redis hides it. */
  readonly eviction: string | null;
  /** Why Redis refused a write, in one word such as `OOM` or `READONLY`; null if it took the write. */
  readonly refusedWrite: string | null;
  /** How far the clock of Redis is ahead of this machine's, in milliseconds. */
  readonly clockLead: number;
}

/**
 * Reads the state of Redis, or of one node of a cluster, and writes a key that it deletes. Takes at most 2
 * seconds plus three times `commandTimeout`. @internal
 */
export const inspect = Effect.fn("CacheRedis.inspect")(function* (
  options: RedisOptions,
): Effect.fn.Return<RedisState, InvalidRedisUrl | RedisDatabaseRefused | RedisUnusable> {
  const { address, client } = yield* addressOf(options);
  const path = pathOf(address);
  const makers = makersOf(address, client);
  return yield* Effect.acquireUseRelease(
    Effect.sync(makers.commands),
    (commands) => {
      let failure: unknown;
      commands.on("error", (error: unknown) => {
        // A lost connection that follows does not say why.
        if (!isRefusedDatabase(failure)) failure = error;
      });
      return firstOutcome(commands).pipe(
        Effect.timeoutOption("2 seconds"),
        Effect.andThen(stateOf(commands, keyFor(options), address.kind === "cluster")),
        Effect.tapError(() => refuseCertificate(address, client, commands.status)),
        Effect.mapError((error) => {
          if (error._tag === "RedisUnusable") return error;
          const { cause } = error;
          if (isRefusedDatabase(failure) && address.kind !== "cluster") {
            return new RedisDatabaseRefused({ database: address.database });
          }
          // Without a connection, report why connecting failed.
          if (commands.status === "ready") return new RedisUnusable({ path, reason: reasonOf(cause) });
          return new RedisUnusable({ path, reason: failure === undefined ? "timeout" : reasonOf(failure) });
        }),
      );
    },
    (commands) => Effect.sync(() => commands.disconnect()),
  ).pipe(Effect.map((found) => ({ path, ...found })));
});

/** A key that the users of the documentation may write. */
const keyFor = ({ prefix = defaultPrefix }: RedisOptions): string => `${prefix}inspection`;

class RefusedCommand extends Data.TaggedError("RefusedCommand")<{ readonly cause: unknown }> {}

const ask = <A>(command: () => Promise<A>) =>
  Effect.tryPromise({ try: command, catch: (cause) => new RefusedCommand({ cause }) });

/** Tries a write and a script, as limits and the storage are, and leaves no key. Returns why Redis refuses them; null if it does not. */
export const refusalOf = (commands: RedisCommands, key: string) =>
  ask(() => commands.set(key, "", "PX", 1_000)).pipe(
    Effect.andThen(ask(() => commands.eval("return redis.call('PEXPIRE', KEYS[1], 0)", 1, key))),
    Effect.as(null),
    Effect.catchIf(
      ({ cause }) => errorReplyOf(cause) !== null,
      ({ cause }) => Effect.succeed(reasonOf(cause)),
    ),
  );

const stateOf = Effect.fnUntraced(function* (commands: Redis | Cluster, key: string, isCluster: boolean) {
  const info = yield* ask(() => commands.info());
  const refused = yield* refusalOf(commands, key);
  // A node of a cluster takes the keys of its slots only.
  const isNode = !isCluster && fieldOf(info, "redis_mode") === "cluster";
  const refusedWrite = isNode ? (refused ?? "MOVED") : refused;
  const lead = yield* leadOf(ask(() => commands.time()));
  return {
    version: fieldOf(info, "redis_version") ?? "unknown",
    eviction: fieldOf(info, "maxmemory_policy"),
    refusedWrite,
    clockLead: lead,
  };
});

/** How far the clock of Redis is ahead of this machine's, in milliseconds. */
export const leadOf = <E>(time: Effect.Effect<ReadonlyArray<number | string>, E>) =>
  clockLead(Effect.map(time, ([seconds, micros]) => Number(seconds) * 1_000 + Number(micros) / 1_000));

const fieldOf = (info: string, name: string): string | null =>
  new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? null;

/** A cache of link records in Redis. */
import {
  type CachedRecord,
  type CacheRun,
  LinkCache,
  type LinkRecord,
  type RecordName,
  type StoreUnavailable,
} from "@accountlink/core";
import { Effect, Layer } from "effect";
import { Redis } from "ioredis";
import { RedisConnections } from "./connections.ts";
import { linkScripts } from "./internal/link_scripts.ts";
import { ask } from "./internal/redis_failure.ts";
import { RedisRun, uncached } from "./internal/redis_run.ts";
import { runScript, type Script } from "./internal/script.ts";

/**
 * A cache that all nodes share. It goes by the clock of Redis alone, and by what one process remembers: when another one
 * takes its place, or it is started again, that is another run.
 *
 * In a cluster a scope could move from one process to another while its fences stand, so there nothing is cached. Nor is
 * it in a Redis that evicts keys.
 */
export const layer: Layer.Layer<LinkCache, never, RedisConnections> = Layer.effect(
  LinkCache,
  Effect.map(RedisConnections, ({ commands, prefix }) =>
    commands instanceof Redis ? make(commands, prefix) : cachesNothing,
  ),
);

const missed: CachedRecord = { _tag: "Miss", token: null };

const cachesNothing = LinkCache.of({
  look: Effect.succeed({ run: uncached, time: 0 }),
  read: () => Effect.succeed(missed),
  put: () => Effect.void,
  fence: () => Effect.succeed(true),
  lift: () => Effect.succeed(true),
});

const make = (redis: Redis, prefix: string): LinkCache["Service"] => {
  const current = new RedisRun(redis);
  // Entries of another shape need another name: nodes of two releases share them.
  const entryOf = ({ pid, chatId }: RecordName) => `${prefix}link:${pid}:${chatId}`;
  const fencesOf = ({ pid, chatId }: RecordName) => `${prefix}link-fences:${pid}:${chatId}`;

  /** Runs a script in a run; null when that is over, which may turn out while it is under way. */
  const runIn = (
    run: string,
    operation: string,
    script: Script,
    keys: ReadonlyArray<string>,
    values: ReadonlyArray<string | number>,
  ): Effect.Effect<unknown, StoreUnavailable> =>
    Effect.suspend(() => {
      if (!current.is(run)) return Effect.succeed(null);
      const reply = ask(`LinkCache.${operation}`, () => runScript(redis, script, keys, values));
      return Effect.map(reply, (value) => (current.is(run) ? value : null));
    });

  let isWarned = false;
  const warnOnce = ({ run }: CacheRun): Effect.Effect<void> => {
    const isNew = run === uncached && !isWarned;
    isWarned = run === uncached;
    return isNew ? Effect.logWarning(notKept) : Effect.void;
  };

  return LinkCache.of({
    look: Effect.tap(
      ask("LinkCache.look", () => current.look()),
      warnOnce,
    ),

    read: ({ run, until }, name, tokenMs) => {
      if (run === uncached) return Effect.succeed(missed);
      const keys = [entryOf(name), fencesOf(name)];
      const values = [until, crypto.randomUUID(), tokenMs];
      return Effect.map(runIn(run, "read", linkScripts.read, keys, values), cachedRecordOf);
    },

    put: ({ run, until }, name, { token, record, entryMs }) => {
      const values = [until, token, JSON.stringify(record), entryMs];
      return Effect.asVoid(runIn(run, "put", linkScripts.put, [entryOf(name)], values));
    },

    fence: ({ run, until }, { records, id }, fenceMs) => {
      if (run === uncached) return Effect.succeed(current.is(run));
      const keys = records.flatMap((name) => [entryOf(name), fencesOf(name)]);
      const stands = runIn(run, "fence", linkScripts.fence, keys, [until, id, fenceMs]);
      return Effect.map(stands, (reply) => reply === 1);
    },

    lift: ({ run, records, id }) => {
      if (run === uncached) return Effect.succeed(current.is(run));
      const stood = runIn(run, "lift", linkScripts.lift, records.map(fencesOf), [id]);
      return Effect.map(stood, (reply) => reply === 1);
    },
  });
};

const notKept =
  "Links are not cached: Redis may evict keys or does not say who it is, expected maxmemory-policy noeviction and leave for INFO";

/** What is read back is what this program left there. */
const cachedRecordOf = (entry: unknown): CachedRecord => {
  if (typeof entry !== "string") return missed;
  const rest = entry.slice(1);
  return entry.startsWith("v")
    ? { _tag: "Hit", record: JSON.parse(rest) as LinkRecord | null }
    : { _tag: "Miss", token: rest };
};

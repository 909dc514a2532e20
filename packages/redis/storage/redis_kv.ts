import { partsOf } from "@accountlink/core/group_by";
import type { Entry, Kv, Range } from "@accountlink/kv";
import { Effect } from "effect";
import type { RedisCommands } from "../connection/connections.ts";
import { runCommand } from "../connection/failure.ts";
import { makeScript, runScript } from "../script.ts";

/** Keeps Redis free for others: a commit of so many changes takes it about 50 milliseconds. */
const maxChanges = 20_000;

/**
 * The keys are a hash of values, each after its version, a sorted set of names, and the number of commits. A check is
 * two arguments, a name and its version, which is empty for an absent key. A change is a name and its value after an S,
 * or a D, which deletes it.
 */
const commit = makeScript(`
local last = 1 + 2 * tonumber(ARGV[1])
for at = 2, last, 2 do
  local stored = redis.call('HGET', KEYS[1], ARGV[at])
  if (stored and string.match(stored, '^%d+') or '') ~= ARGV[at + 1] then return 0 end
end
local version = string.format('%.0f', redis.call('INCR', KEYS[3]))
for at = last + 1, #ARGV, 2 do
  local name, change = ARGV[at], ARGV[at + 1]
  if change == 'D' then
    if redis.call('HDEL', KEYS[1], name) == 1 then redis.call('ZREM', KEYS[2], name) end
  elseif redis.call('HSET', KEYS[1], name, version .. ' ' .. string.sub(change, 2)) == 1 then
    redis.call('ZADD', KEYS[2], 0, name)
  end
end
return 1`);

/** Returns the names and values of a range, in turn. */
const list = makeScript(`
local found = {}
for _, name in ipairs(redis.call(ARGV[1], KEYS[2], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])) do
  found[#found + 1] = name
  found[#found + 1] = redis.call('HGET', KEYS[1], name)
end
return found`);

/** Returns the value of a guard, and the names and values of a range, each before the value that it names. */
const find = makeScript(`
local found = { redis.call('HGET', KEYS[1], ARGV[5]) }
for _, name in ipairs(redis.call(ARGV[1], KEYS[2], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])) do
  local value = redis.call('HGET', KEYS[1], name)
  found[#found + 1] = name
  found[#found + 1] = value
  found[#found + 1] = redis.call('HGET', KEYS[1], string.sub(value, string.find(value, ' ', 1, true) + 1))
end
return found`);

const entryOf = (key: string, stored: string): Entry => {
  const space = stored.indexOf(" ");
  return { key, version: stored.slice(0, space), value: stored.slice(space + 1) };
};

const entryOrNull = (key: string, stored: string | null | undefined): Entry | null =>
  typeof stored === "string" ? entryOf(key, stored) : null;

const rangeArgs = ({ start, end }: Range, { limit, reverse }: { limit: number; reverse: boolean }) => {
  const [from, to] = [`[${start}`, `(${end}`];
  return [...(reverse ? ["ZREVRANGEBYLEX", to, from] : ["ZRANGEBYLEX", from, to]), limit];
};

export interface RedisKvOptions {
  /**
   * A connection for commits alone, which are answered once a replica has them: a failover to it loses none. `WAIT`
   * blocks the connection, so reads need another one.
   */
  readonly replicated?: RedisCommands;
}

/**
 * An engine on one Redis or Valkey. All its data is in three keys, so a commit is one script.
 *
 * @param prefix of the three keys
 */
export const redisKv = (commands: RedisCommands, prefix: string, { replicated }: RedisKvOptions = {}): Kv => {
  const writer = replicated ?? commands;
  const settle = replicated === undefined ? null : settler(replicated);
  const allKeys = [`${prefix}values`, `${prefix}names`, `${prefix}commits`] as const;
  const [values, names] = allKeys;
  return {
    maxChanges,

    get: (wanted) =>
      wanted.length === 0
        ? Effect.succeed([])
        : Effect.map(
            runCommand("Kv.get", () => commands.hmget(values, ...wanted)),
            (found) => wanted.map((key, index) => entryOrNull(key, found[index])),
          ),

    keys: ({ start, end }, limit) =>
      runCommand("Kv.keys", () => commands.zrangebylex(names, `[${start}`, `(${end}`, "LIMIT", 0, limit)),

    list: (range, options) =>
      Effect.map(
        runCommand("Kv.list", () => runScript(commands, list, allKeys, rangeArgs(range, options))),
        (reply) =>
          partsOf(reply as ReadonlyArray<string>, 2).map(([key = "", stored = ""]) => entryOf(key, stored)),
      ),

    find: (guard, range, options) =>
      Effect.map(
        runCommand("Kv.find", () =>
          runScript(commands, find, allKeys, [...rangeArgs(range, options), guard ?? ""]),
        ),
        (reply) => {
          const [guarding, ...texts] = reply as ReadonlyArray<string | null>;
          const found = partsOf(texts, 3).map(([key, stored, named]) => {
            const entry = entryOf(key ?? "", stored ?? "");
            return [entry, entryOrNull(entry.value, named)] as const;
          });
          return {
            guard: guard === null ? null : entryOrNull(guard, guarding),
            entries: found.map(([entry]) => entry),
            named: found.map(([, entry]) => entry),
          };
        },
      ),

    count: ({ start, end }) =>
      runCommand("Kv.count", () => commands.zlexcount(names, `[${start}`, `(${end}`)),

    commit: (checks, changes) => {
      const args = [
        checks.length,
        ...checks.flatMap(({ key, version }) => [key, version ?? ""]),
        ...changes.flatMap(({ key, value }) => [key, value === null ? "D" : `S${value}`]),
      ];
      return Effect.map(
        runCommand("Kv.commit", async () => {
          settle?.check();
          const reply = await runScript(writer, commit, allKeys, args);
          // A check that did not hold may have read a commit that no replica has, so it waits too.
          await settle?.wait();
          return reply;
        }),
        (reply) => reply === 1,
      );
    },
  };
};

/** How long a commit may take to reach a replica, in milliseconds. */
const replicationTimeout = 1_000;

/** How long commits are refused at once after no replica had one, in milliseconds. Then one of them tries again. */
const refusedFor = 500;

interface Settler {
  /** Throws while no replica is known to take commits, so that a request with several of them fails in time. */
  readonly check: () => void;
  readonly wait: () => Promise<void>;
}

/**
 * `wait` waits until a replica has every commit that was answered before the call. Concurrent calls share a `WAIT`. If
 * the connection is lost, they fail: the next primary may lack their commits.
 */
const settler = (commands: RedisCommands): Settler => {
  let running = Promise.resolve();
  let waiting: Promise<void> | null = null;
  /** Until when commits are refused; null while replicas take them. */
  let refusedUntil: number | null = null;
  const ask = async () => {
    if ((await commands.wait(1, replicationTimeout)) === 0) {
      refusedUntil = performance.now() + refusedFor;
      throw new Error("No replica timed out");
    }
    refusedUntil = null;
  };
  const check = () => {
    if (refusedUntil === null) return;
    const now = performance.now();
    if (now < refusedUntil) throw new Error("No replica timed out");
    // The others are refused until the outcome of this one is known.
    refusedUntil = now + replicationTimeout + refusedFor;
  };
  const start = (): Promise<void> => {
    waiting = null;
    const mine = ask();
    running = mine;
    mine.catch(() => {
      if (running === mine) running = Promise.resolve();
    });
    return mine;
  };
  const fail = (error: unknown) => {
    waiting = null;
    throw error;
  };
  return { check, wait: () => (waiting ??= running.then(start, fail)) };
};

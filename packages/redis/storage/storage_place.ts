/** Where the data of a Redis is, which servers use it, and whether it rests because it is a copy. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { makeStorageUse, type Rest } from "@accountlink/core";
import { sweepEvery } from "@accountlink/core/telemetry";
import { Clock, Effect } from "effect";
import type { RedisCommands } from "../connection/connections.ts";
import { runCommand } from "../connection/failure.ts";
import { leadOf } from "../inspect.ts";
import { makeScript, runScript, type Script } from "../script.ts";

/** How long a server counts as running after its last sign of life, in milliseconds. */
const holdTime = 7_000;

/** How much newer than the data a server's last sign of life may be if Redis loses what it has not synced. */
const mostLost = 10_000;

/** How long the entry of a killed server stays, in milliseconds. */
const goneAfter = 60_000;

// The hash has the run of the Redis process, its address, the rest, and a field for each server. A Redis that starts from
// a copy of its data is another run. It is a restart of the same data if the servers had ended before, or go on.

const nowInLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

const claim = makeScript(`
local run = redis.call('HGET', KEYS[1], 'run')
local isRead = ARGV[4] == 'read'
if run and run ~= ARGV[1] then
  local isCopy = redis.call('HGET', KEYS[1], 'path') ~= ARGV[2]
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.find(field, '^server:') then
      isCopy = true
      if not isRead then redis.call('HDEL', KEYS[1], field) end
    end
  end
  if isCopy and isRead and redis.call('HEXISTS', KEYS[1], 'since') == 0 then return {ARGV[3], 'copied'} end
  if isCopy and redis.call('HSETNX', KEYS[1], 'since', ARGV[3]) == 1 then
    redis.call('HSET', KEYS[1], 'reason', 'copied')
  end
end
if not isRead then redis.call('HSET', KEYS[1], 'run', ARGV[1], 'path', ARGV[2]) end
return redis.call('HMGET', KEYS[1], 'since', 'reason')`);

const beat = makeScript(`${nowInLua}
local field = 'server:' .. ARGV[1]
local before = tonumber(string.match(redis.call('HGET', KEYS[1], field) or '0', '^%d+'))
if before < tonumber(ARGV[4]) - ${mostLost} and redis.call('HSETNX', KEYS[1], 'since', ARGV[5]) == 1 then
  redis.call('HSET', KEYS[1], 'reason', 'restored')
end
for _, other in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.find(other, '^server:') then
    local untilTime = tonumber(string.match(redis.call('HGET', KEYS[1], other), '^%d+'))
    if untilTime < now - ${goneAfter} then redis.call('HDEL', KEYS[1], other) end
  end
end
local ends = string.format('%.0f', now + ${holdTime})
redis.call('HSET', KEYS[1], field, ends .. ' ' .. ARGV[2], 'run', ARGV[3])
return {ends, redis.call('HGET', KEYS[1], 'since') or ''}`);

const listServers = makeScript(`${nowInLua}
local found = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.find(field, '^server:') then
    local value = redis.call('HGET', KEYS[1], field)
    if tonumber(string.match(value, '^%d+')) > now then found[#found + 1] = string.match(value, ' (.*)$') end
  end
end
return found`);

const restOf = (reply: unknown): Rest | null => {
  const [since, reason] = reply as ReadonlyArray<string | null>;
  return since ? { since: Number(since), reason: (reason ?? "copied") as Rest["reason"] } : null;
};

const redisRun = (commands: RedisCommands) =>
  runCommand("StorageUse.run", async () => {
    const info = await commands.info("server");
    return /^run_id:(\w+)/m.exec(info)?.[1] ?? "";
  });

/** Returns the rest of the data, also of a copy that no server has opened yet. */
export const readRest = Effect.fnUntraced(function* (commands: RedisCommands, key: string, path: string) {
  const values = [yield* redisRun(commands), path, yield* Clock.currentTimeMillis, "read"];
  return restOf(yield* runCommand("StorageUse.find", () => runScript(commands, claim, [key], values)));
});

export const readServers = (commands: RedisCommands, key: string) =>
  Effect.map(
    runCommand("StorageUse.servers", () => runScript(commands, listServers, [key], [])),
    (names) => names as ReadonlyArray<string>,
  );

export const writeRest = (commands: RedisCommands, key: string, rest: Rest | null) =>
  Effect.asVoid(
    runCommand("StorageUse.rest", () =>
      rest === null
        ? commands.hdel(key, "since", "reason")
        : commands.hset(key, "since", rest.since, "reason", rest.reason),
    ),
  );

/**
 * @param path the address of Redis
 * @param serves true for a server, of which the others know; false for a command, which claims nothing: while the servers
 *   reconnect to a Redis that restarted, the data looks like a copy
 */
export const storageUseOn = Effect.fnUntraced(function* (
  commands: RedisCommands,
  {
    key,
    path,
    serves,
  }: { readonly key: string; readonly path: string; readonly serves: boolean | undefined },
) {
  const run = (name: string, script: Script, ...values: ReadonlyArray<string | number>) =>
    runCommand(`StorageUse.${name}`, () => runScript(commands, script, [key], values));
  const found = readRest(commands, key, path);
  const use = yield* makeStorageUse(
    {
      claim: (at) =>
        serves === false
          ? found
          : Effect.flatMap(redisRun(commands), (id) => Effect.map(run("claim", claim, id, path, at), restOf)),
      find: found,
      rest: (rest) => writeRest(commands, key, rest),
      // A copy that no server has opened yet would rest again at its first one.
      resume: Effect.andThen(
        writeRest(commands, key, null),
        Effect.flatMap(redisRun(commands), (id) =>
          runCommand("StorageUse.resume", () => commands.hset(key, "run", id)),
        ),
      ),
    },
    {
      servers: readServers(commands, key),
      clockLead: leadOf(runCommand("StorageUse.clock", () => commands.time())),
    },
  );
  if (serves) {
    const id = randomUUID();
    const name = `process ${process.pid} on ${hostname()}`;
    let last = "0";
    const sign = Effect.fnUntraced(function* (now: number) {
      const reply = yield* run("beat", beat, id, name, yield* redisRun(commands), last, now);
      const [ends = "0", since = ""] = reply as ReadonlyArray<string>;
      last = ends;
      if (since !== "" && use.resting() === null) yield* use.reread;
    });
    const leave = runCommand("StorageUse.leave", () => commands.hdel(key, `server:${id}`));
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(leave, "2 seconds")));
    yield* sweepEvery("2 seconds", "Cannot tell other processes that this server runs", sign);
  }
  return use;
});

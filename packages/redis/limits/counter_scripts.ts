import { clockTolerance } from "@accountlink/core/limits";
import { makeScript, type Script } from "./lua_script.ts";

/** The clock that ends windows: the clock of Redis, or the caller's for tests that pass their own times. */
export type ScriptClock = "redis" | "caller";

const clocks: Readonly<Record<ScriptClock, string>> = {
  redis: "local clock = redis.call('TIME') local time = clock[1] * 1000 + math.floor(clock[2] / 1000)",
  caller: "local time = now",
};

/** A Lua expression: the index in ARGV of the first of the five arguments of window `i`. For window 1, it is 4. */
const at = "5 * i - 1";

/**
 * The start of every script. ARGV holds the caller's time, the lifetime of the generation (0 for no generation), the
 * number of requests to count, and five arguments for each window. The first of the five is the window's duration. KEYS
 * are the keys of the windows and, if there is a generation, its key.
 *
 * A window stores a count, its end by the `ScriptClock`, its end by the clock of the caller that started it, and the
 * generation in which it was started or restored. The key of a window expires when the window ends. The reply is the
 * time, how many requests were admitted, and the count and both ends of each window. The reply is one text: for an
 * array, the driver would run its decoder once for each element.
 *
 * Numbers stay in arrays and in ARGV, as text if they are only compared with text, because this Lua code costs as much
 * time as the Redis commands.
 */
const prelude = (clock: ScriptClock): string => `
local now, windows = tonumber(ARGV[1]), (#ARGV - 3) / 5
${clocks[clock]}
local exists, counts, ends, resets, generations = {}, {}, {}, {}, {}
for i = 1, windows do
  local stored = redis.call('HMGET', KEYS[i], 'count', 'ends', 'resets', 'generation')
  local stop = tonumber(stored[2])
  if stop and stop > time then
    exists[i], counts[i], ends[i], resets[i] = true, tonumber(stored[1]), stop, tonumber(stored[3])
    generations[i] = stored[4]
  else
    local duration = tonumber(ARGV[${at}])
    counts[i], ends[i], resets[i] = 0, time + duration, now + duration
  end
end
local function reply(admitted, forgotten)
  local numbers, last = {time, admitted}, 2
  for i = 1, windows do
    numbers[last + 1], numbers[last + 2], numbers[last + 3] = counts[i], ends[i], resets[i]
    last = last + 3
  end
  for _, index in ipairs(forgotten or {}) do numbers[#numbers + 1] = index end
  return table.concat(numbers, ' ')
end`;

/**
 * Admits as many of the requests as fit into every window. The five arguments of a window are its duration, its limit,
 * and the fields `since`, `floor` and `unsynced` of its `Checkpoint`. A missing `since` or `floor` is -1.
 *
 * If Redis may have lost the counts of some windows, the script counts nothing. Then the reply has -1 as the number of
 * admitted requests, and ends with the indexes of these windows.
 *
 * The generation's key expires unless nodes renew it, so a Redis that was emptied or restored from an older state
 * starts another generation. Counts are reliable in windows of the current generation, and in windows that started
 * during it. Without a generation, counts are reliable in every window that exists.
 */
const admit = `
local generation, since = nil, math.huge
if ARGV[2] ~= '0' then
  generation = redis.call('GET', KEYS[#KEYS])
  if not generation then
    generation = string.format('%.0f', time)
    redis.call('SET', KEYS[#KEYS], generation, 'PX', ARGV[2])
  end
  since = tonumber(generation) + ${clockTolerance}
end
local function write(i)
  if generation then
    redis.call('HSET', KEYS[i], 'count', counts[i], 'ends', ends[i], 'resets', resets[i], 'generation', generation)
  else
    redis.call('HSET', KEYS[i], 'count', counts[i], 'ends', ends[i], 'resets', resets[i])
  end
  redis.call('PEXPIRE', KEYS[i], ends[i] - time)
  exists[i] = true
end

local forgotten
for i = 1, windows do
  local began, floor = ARGV[${at} + 2], ARGV[${at} + 3]
  if began ~= '-1' and floor == '-1' and not (exists[i] and (not generation or generations[i] == generation))
    and tonumber(began) < since then
    forgotten = forgotten or {}
    forgotten[#forgotten + 1] = i - 1
  end
end
if forgotten then return reply(-1, forgotten) end

local room = tonumber(ARGV[3])
for i = 1, windows do
  local floor, unsynced = ARGV[${at} + 3], ARGV[${at} + 4]
  if (floor ~= '-1' or unsynced ~= '0') and resets[i] == now + ARGV[${at}] then
    counts[i] = math.max(counts[i], floor) + unsynced
    write(i)
  end
  local left = ARGV[${at} + 1] - counts[i]
  if left < room then room = left end
end
if room <= 0 then return reply(0) end
for i = 1, windows do
  counts[i] = counts[i] + room
  if exists[i] then redis.call('HINCRBY', KEYS[i], 'count', room) else write(i) end
end
return reply(room)`;

const read = "return reply(1)";

/**
 * Takes back one count in each window. ARGV also has the end of each counted window, so that the script does not change
 * a later window with the same key.
 */
const refund = `
for i = 1, windows do
  if counts[i] > 0 and ends[i] == tonumber(ARGV[${at} + 1]) then
    counts[i] = redis.call('HINCRBY', KEYS[i], 'count', -1)
    if counts[i] == 0 then
      redis.call('DEL', KEYS[i])
      ends[i], resets[i] = time + ARGV[${at}], now + ARGV[${at}]
    end
  end
end
return reply(0)`;

const scriptOf = (clock: ScriptClock, body: string): Script => makeScript(`${prelude(clock)}\n${body}`);

export const counterScripts = (clock: ScriptClock) => ({
  admit: scriptOf(clock, admit),
  read: scriptOf(clock, read),
  refund: scriptOf(clock, refund),
});

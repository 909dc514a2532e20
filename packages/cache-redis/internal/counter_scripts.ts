import { clockTolerance } from "@accountlink/core";
import { makeScript, type Script } from "./script.ts";

/** Who says what time it is: Redis, the same for all nodes; or, for tests that pass times of their own, the caller. */
export type ScriptClock = "redis" | "caller";

const clocks: Readonly<Record<ScriptClock, string>> = {
  redis: "local clock = redis.call('TIME') local time = clock[1] * 1000 + math.floor(clock[2] / 1000)",
  caller: "local time = now",
};

/** How many numbers of each window a script is passed. */
const numbersPerWindow = 5;

/**
 * The start of every script. ARGV is the caller's time, the life of the generation or 0 to use none, and then for each
 * window its duration and four numbers that are the script's own. KEYS are the windows and, if it is used, the
 * generation.
 *
 * A window is its count, its end by the clock above, its end by the clock of the caller that began it, and the
 * generation in which it was begun or restored; the key expires with it. The reply is the clock, whether the request was
 * admitted, and then, for each window, its count, both ends and whether its count may be forgotten.
 */
const prelude = (clock: ScriptClock): string => `
local now, generationLife = tonumber(ARGV[1]), tonumber(ARGV[2])
${clocks[clock]}
local windows = {}
for i = 1, (#ARGV - 2) / ${numbersPerWindow} do
  local at = ${numbersPerWindow} * (i - 1) + 3
  local stored = redis.call('HMGET', KEYS[i], 'count', 'ends', 'resets', 'generation')
  local duration = tonumber(ARGV[at])
  local window = {count = 0, ends = time + duration, resets = now + duration, forgotten = 0}
  if stored[2] and tonumber(stored[2]) > time then
    window.exists = true
    window.count, window.ends, window.resets = tonumber(stored[1]), tonumber(stored[2]), tonumber(stored[3])
    window.generation = stored[4]
  end
  window.duration, window.numbers = duration, {}
  for k = 1, ${numbersPerWindow - 1} do window.numbers[k] = tonumber(ARGV[at + k]) end
  windows[i] = window
end
local function reply(admitted)
  local numbers = {time, admitted}
  for i, window in ipairs(windows) do
    local last = #numbers
    numbers[last + 1], numbers[last + 2] = window.count, window.ends
    numbers[last + 3], numbers[last + 4] = window.resets, window.forgotten
  end
  return numbers
end`;

/**
 * The window's own numbers are its limit and those of its checkpoint: when it began, its floor and what is owed, -1 for
 * none.
 *
 * The generation lasts only while nodes renew it. So it is gone, and another begins, when Redis was emptied or restored
 * from an older state. Redis vouches for a window of the present generation, and for one that began in it. Without a
 * generation it vouches for every window that exists.
 */
const admit = `
local generation, since = nil, math.huge
if generationLife > 0 then
  generation = redis.call('GET', KEYS[#KEYS])
  if not generation then
    generation = string.format('%.0f', time)
    redis.call('SET', KEYS[#KEYS], generation, 'PX', generationLife)
  end
  since = tonumber(generation) + ${clockTolerance}
end
local function write(i, window)
  redis.call('HSET', KEYS[i], 'count', window.count, 'ends', window.ends, 'resets', window.resets)
  if generation then redis.call('HSET', KEYS[i], 'generation', generation) end
  redis.call('PEXPIRE', KEYS[i], window.ends - time)
end

local forgotten = false
for _, window in ipairs(windows) do
  local began, floor = window.numbers[2], window.numbers[3]
  if began >= 0 and floor < 0 then
    local vouched = began >= since
    if window.exists then vouched = not generation or window.generation == generation or vouched end
    if not vouched then window.forgotten, forgotten = 1, true end
  end
end
if forgotten then return reply(0) end

for i, window in ipairs(windows) do
  local floor, owed = window.numbers[3], window.numbers[4]
  if (floor >= 0 or owed > 0) and window.resets == now + window.duration then
    if window.count < floor then window.count = floor end
    window.count, window.exists = window.count + math.max(owed, 0), true
    write(i, window)
  end
end
for _, window in ipairs(windows) do
  if window.count >= window.numbers[1] then return reply(0) end
end
for i, window in ipairs(windows) do
  window.count = window.count + 1
  if window.exists then redis.call('HINCRBY', KEYS[i], 'count', 1) else write(i, window) end
end
return reply(1)`;

const read = "return reply(1)";

/** The first of the window's own numbers is the end of the one that was counted in: what began since is left alone. */
const refund = `
for i, window in ipairs(windows) do
  if window.count > 0 and window.ends == window.numbers[1] then
    window.count = redis.call('HINCRBY', KEYS[i], 'count', -1)
    if window.count == 0 then
      redis.call('DEL', KEYS[i])
      window.ends, window.resets = time + window.duration, now + window.duration
    end
  end
end
return reply(0)`;

const scriptOf = (clock: ScriptClock, body: string): Script => makeScript(`${prelude(clock)}\n${body}`);

/** The scripts of `Counters`. */
export const counterScripts = (clock: ScriptClock) => ({
  admit: scriptOf(clock, admit),
  read: scriptOf(clock, read),
  refund: scriptOf(clock, refund),
});

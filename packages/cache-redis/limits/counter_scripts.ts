import { clockTolerance } from "@accountlink/core/limits";
import { makeScript, type Script } from "./lua_script.ts";

/**
 * The clock of the windows: that of Redis, or the caller's, for tests that pass their own times.
 */
export type ScriptClock = "redis" | "caller";

const clocks: Readonly<Record<ScriptClock, string>> = {
  redis: "local clock = redis.call('TIME') local time = clock[1] * 1000 + math.floor(clock[2] / 1000)",
  caller: "local time = now",
};

/** How many arguments of a script belong to each window. */
const numbersPerWindow = 5;

/**
 * The start of every script. ARGV holds the caller's time, the life of the generation or 0 to use
 * none, and for each window its duration and four arguments of the script. KEYS are the windows
 * and, if used, the generation.
 *
 * A window has a count, its end by the clock above, its end by the clock of the caller that began
 * it, and the generation in which it was begun or restored. Its key expires with it. The reply is
 * the time, whether the request was admitted, and for each window its count, both ends, and whether
 * its count may be forgotten.
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
  window.duration, window.args = duration, {}
  for k = 1, ${numbersPerWindow - 1} do window.args[k] = tonumber(ARGV[at + k]) end
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
 * The arguments of a window are its limit, and `since`, `floor` and `owed` of its checkpoint, -1
 * for none.
 *
 * The generation lasts while nodes renew it, so a Redis that was emptied or restored from an older
 * state begins another. Counts are reliable in windows of the current generation, and in those that
 * began during it. Without a generation, counts are reliable in every window that exists.
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
  local began, floor = window.args[2], window.args[3]
  if began >= 0 and floor < 0 then
    local reliable = began >= since
    if window.exists then reliable = not generation or window.generation == generation or reliable end
    if not reliable then window.forgotten, forgotten = 1, true end
  end
end
if forgotten then return reply(0) end

for i, window in ipairs(windows) do
  local floor, owed = window.args[3], window.args[4]
  if (floor >= 0 or owed > 0) and window.resets == now + window.duration then
    if window.count < floor then window.count = floor end
    window.count, window.exists = window.count + math.max(owed, 0), true
    write(i, window)
  end
end
for _, window in ipairs(windows) do
  if window.count >= window.args[1] then return reply(0) end
end
for i, window in ipairs(windows) do
  window.count = window.count + 1
  if window.exists then redis.call('HINCRBY', KEYS[i], 'count', 1) else write(i, window) end
end
return reply(1)`;

const read = "return reply(1)";

/**
 * The first argument of a window is the end of the one with the count; later windows stay as they
 * are.
 */
const refund = `
for i, window in ipairs(windows) do
  if window.count > 0 and window.ends == window.args[1] then
    window.count = redis.call('HINCRBY', KEYS[i], 'count', -1)
    if window.count == 0 then
      redis.call('DEL', KEYS[i])
      window.ends, window.resets = time + window.duration, now + window.duration
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

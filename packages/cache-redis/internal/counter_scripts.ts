import { makeScript, type Script } from "./script.ts";

/** Who says what time it is: Redis, the same for all nodes; or, for tests that pass times of their own, the caller. */
export type ScriptClock = "redis" | "caller";

const clocks: Readonly<Record<ScriptClock, string>> = {
  redis: "local clock = redis.call('TIME') local time = clock[1] * 1000 + math.floor(clock[2] / 1000)",
  caller: "local time = now",
};

/**
 * Every script starts so. KEYS are the windows; ARGV is the caller's time and then, for each window, its duration and two
 * numbers that are the script's own. A window is its count, its end by the clock above, and its end by the clock of the
 * caller that began it; the key expires with it. The reply is the clock, whether the request was admitted, whether a
 * window was raised, and then, for each window, these three numbers.
 */
const prelude = (clock: ScriptClock): string => `
local now = tonumber(ARGV[1])
${clocks[clock]}
local windows = {}
for i, key in ipairs(KEYS) do
  local stored = redis.call('HMGET', key, 'count', 'ends', 'resets', 'refunded')
  local duration = tonumber(ARGV[3 * i - 1])
  local window = {count = 0, refunded = 0, ends = time + duration, resets = now + duration}
  if stored[2] and tonumber(stored[2]) > time then
    window.count, window.ends, window.resets = tonumber(stored[1]), tonumber(stored[2]), tonumber(stored[3])
    window.refunded = tonumber(stored[4] or 0)
  end
  window.duration, window.first, window.second = duration, tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1])
  windows[i] = window
end
local raised = 0
local function reply(admitted)
  local numbers = {time, admitted, raised}
  for i, window in ipairs(windows) do
    numbers[3 * i + 1], numbers[3 * i + 2], numbers[3 * i + 3] = window.count, window.ends, window.resets
  end
  return numbers
end`;

/**
 * The window's own numbers are its limit and its floor. The floor is that of the window which ends when the caller says,
 * and may hold counts that were seen before they were taken back.
 */
const admit = `
for i, window in ipairs(windows) do
  if window.count + window.refunded < window.second and window.resets == now + window.duration then
    window.count, raised = window.second, 1
    redis.call('HSET', KEYS[i], 'count', window.count, 'ends', window.ends, 'resets', window.resets)
    redis.call('PEXPIRE', KEYS[i], window.ends - time)
  end
end
for _, window in ipairs(windows) do
  if window.count >= window.first then return reply(0) end
end
for i, window in ipairs(windows) do
  window.count = window.count + 1
  if window.count == 1 then
    redis.call('HSET', KEYS[i], 'count', 1, 'ends', window.ends, 'resets', window.resets)
    redis.call('PEXPIRE', KEYS[i], window.ends - time)
  else
    redis.call('HINCRBY', KEYS[i], 'count', 1)
  end
end
return reply(1)`;

const read = "return reply(1)";

/** The first of the window's own numbers is the end of the one that was counted in: what began since is left alone. */
const refund = `
for i, window in ipairs(windows) do
  if window.count > 0 and window.ends == window.first then
    window.count = redis.call('HINCRBY', KEYS[i], 'count', -1)
    redis.call('HINCRBY', KEYS[i], 'refunded', 1)
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

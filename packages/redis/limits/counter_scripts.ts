import { clockTolerance } from "@accountlink/core/timestamp";
import { makeScript, runScript, type Script } from "../script.ts";

/** The clock that ends windows: the clock of Redis, or the caller's for tests that pass their own times. */
export type ScriptClock = "redis" | "caller";

const clocks: Readonly<Record<ScriptClock, string>> = {
  redis: "local clock = redis.call('TIME') local time = clock[1] * 1000 + math.floor(clock[2] / 1000)",
  caller: "local time = now",
};

/** Lua expressions: the two arguments of window `i` in ARGV. */
const duration = "ARGV[2 * i + 1]";
const limitOrEnd = "ARGV[2 * i + 2]";

/**
 * The start of every script. ARGV holds the caller's time, the number of requests to count, and two arguments for each
 * window: its duration and its limit. KEYS are the keys of the windows.
 *
 * A window stores a count, its end by the `ScriptClock`, and its end by the clock of the caller that started it. The key
 * of a window expires when the window ends. The reply is the time, how many requests were admitted, and the count and
 * both ends of each window. The reply is one text: for an array, the driver would run its decoder once for each element.
 *
 * Numbers stay in arrays and in ARGV, as text if they are only compared with text, because this Lua code costs as much
 * time as the Redis commands.
 */
const prelude = (clock: ScriptClock): string => `
local now, windows = tonumber(ARGV[1]), (#ARGV - 2) / 2
${clocks[clock]}
local exists, counts, ends, resets = {}, {}, {}, {}
for i = 1, windows do
  local stored = redis.call('HMGET', KEYS[i], 'count', 'ends', 'resets')
  local stop = tonumber(stored[2])
  if stop and stop > time and stop - time - ${duration} <= ${clockTolerance} then
    exists[i], counts[i], ends[i], resets[i] = true, tonumber(stored[1]), stop, tonumber(stored[3])
  else
    local duration = tonumber(${duration})
    counts[i], ends[i], resets[i] = 0, time + duration, now + duration
  end
end
local function reply(admitted)
  local numbers, last = {time, admitted}, 2
  for i = 1, windows do
    numbers[last + 1], numbers[last + 2], numbers[last + 3] = counts[i], ends[i], resets[i]
    last = last + 3
  end
  return table.concat(numbers, ' ')
end`;

/** Admits as many of the requests as fit into every window. */
const admit = `
local room = tonumber(ARGV[2])
for i = 1, windows do
  local left = ${limitOrEnd} - counts[i]
  if left < room then room = left end
end
if room <= 0 then return reply(0) end
for i = 1, windows do
  counts[i] = counts[i] + room
  if exists[i] then
    redis.call('HINCRBY', KEYS[i], 'count', room)
  else
    redis.call('HSET', KEYS[i], 'count', counts[i], 'ends', ends[i], 'resets', resets[i])
    redis.call('PEXPIRE', KEYS[i], ends[i] - time)
  end
end
return reply(room)`;

const read = "return reply(1)";

/**
 * Takes back one count in each window. In place of limits, ARGV has the end of each counted window, so that the script
 * does not change a later window with the same key.
 */
const refund = `
for i = 1, windows do
  if counts[i] > 0 and ends[i] == tonumber(${limitOrEnd}) then
    counts[i] = redis.call('HINCRBY', KEYS[i], 'count', -1)
    if counts[i] == 0 then
      redis.call('DEL', KEYS[i])
      ends[i], resets[i] = time + ${duration}, now + ${duration}
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

/** Runs a script and returns the numbers of its reply. */
export const runCounterScript = async (
  ...run: Parameters<typeof runScript>
): Promise<ReadonlyArray<number>> => numbersIn(await runScript(...run));

const numbersIn = (reply: unknown): ReadonlyArray<number> => (reply as string).split(" ").map(Number);

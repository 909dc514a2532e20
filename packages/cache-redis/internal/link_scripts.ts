import { makeScript } from "./script.ts";

// A record has two keys. The entry is "v" and the record, or "t" and the token of those who look it up. The fences are a
// hash of when each ends, by its id; while one stands there is no entry. ARGV[1] is when the lease ends.

const clock = `
local seconds = redis.call('TIME')
local now = seconds[1] * 1000 + math.floor(seconds[2] / 1000)`;

const whenLeased = (otherwise: string): string => `${clock}
if now >= tonumber(ARGV[1]) then return ${otherwise} end`;

/** KEYS: entry, fences. ARGV: lease, token, its life. Gives the entry that there is; one that it leaves is for others. */
const read = `${whenLeased("false")}
local entry = redis.call('GET', KEYS[1])
if entry then return entry end
for _, ends in ipairs(redis.call('HVALS', KEYS[2])) do
  if now < tonumber(ends) then return false end
end
redis.call('SET', KEYS[1], 't' .. ARGV[2], 'PX', ARGV[3])
return false`;

/** KEYS: entry. ARGV: lease, token, record, its life. */
const put = `${whenLeased("0")}
if redis.call('GET', KEYS[1]) ~= 't' .. ARGV[2] then return 0 end
redis.call('SET', KEYS[1], 'v' .. ARGV[3], 'PX', ARGV[4])
return 1`;

/** KEYS: entry and fences of each record. ARGV: lease, id, life. What is over goes: nobody lifts what failed. */
const fence = `${whenLeased("0")}
local life = tonumber(ARGV[3])
for i = 1, #KEYS, 2 do
  redis.call('DEL', KEYS[i])
  local fences = redis.call('HGETALL', KEYS[i + 1])
  for j = 1, #fences, 2 do
    if now >= tonumber(fences[j + 1]) then redis.call('HDEL', KEYS[i + 1], fences[j]) end
  end
  redis.call('HSET', KEYS[i + 1], ARGV[2], now + life)
  redis.call('PEXPIRE', KEYS[i + 1], math.max(life, redis.call('PTTL', KEYS[i + 1])))
end
return 1`;

/** KEYS: the fences of each record. ARGV: id. */
const lift = `${clock}
local stood = 1
for _, key in ipairs(KEYS) do
  local ends = redis.call('HGET', key, ARGV[1])
  if not ends or now >= tonumber(ends) then stood = 0 end
  redis.call('HDEL', key, ARGV[1])
end
return stood`;

/** The scripts of `LinkCache`. */
export const linkScripts = {
  read: makeScript(read),
  put: makeScript(put),
  fence: makeScript(fence),
  lift: makeScript(lift),
};

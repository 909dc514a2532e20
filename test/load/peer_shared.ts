/**
 * The peer of the deployment that nodes share: `pg` with a pool of 10, and counts in Redis by ioredis. All limits of a
 * request are one script, and the link one prepared statement.
 *
 * Usage: `node peer_shared.ts DATABASE_URL REDIS_URL [FIXTURE]`, with the fixture to fill an empty database
 */
import { readFileSync } from "node:fs";
import type { FastifyReply } from "fastify";
import { Redis } from "ioredis";
import { Pool } from "pg";
import {
  addressLimits,
  bearerToken,
  type ChatRequest,
  checkKey,
  hashOf,
  type Key,
  type KeyWindows,
  keyFreshness,
  keyOf,
  midnightAfter,
  openExchange,
  pid,
  readChatId,
  sendLink,
  sendRefusal,
  serve,
  tooMany,
} from "./peer_route.ts";
import type { BenchFixture } from "./workload.ts";

const [databaseUrl = "", redisUrl = "", fixtureFile] = process.argv.slice(2);

// Storage

const pool = new Pool({ connectionString: databaseUrl, max: 10 });
await pool.query(`
  CREATE TABLE IF NOT EXISTS keys (
    hash text PRIMARY KEY, id text NOT NULL, pid text NOT NULL, tier text NOT NULL, status text NOT NULL,
    expires_at bigint, limits text NOT NULL, allow_ips text NOT NULL, deny_ips text NOT NULL
  );
  CREATE TABLE IF NOT EXISTS links (
    pid text NOT NULL, chat_id text NOT NULL, game_id text, link_version integer NOT NULL,
    last_verified_at bigint NOT NULL, PRIMARY KEY (pid, chat_id)
  );
`);

const fill = async ({ keys, links }: BenchFixture) => {
  for (const { key, tier, limits } of keys) {
    await pool.query("INSERT INTO keys VALUES ($1, $2, $3, $4, 'active', NULL, $5, '[]', '[]')", [
      hashOf(key),
      key.slice(4, 16),
      pid,
      tier,
      JSON.stringify(limits),
    ]);
  }
  await pool.query("INSERT INTO links SELECT $1, link.*, 1, $4 FROM unnest($2::text[], $3::text[]) AS link", [
    pid,
    links.map(({ chatId }) => chatId),
    links.map(({ gameId }) => gameId),
    Date.parse(links[0]?.lastVerifiedAt ?? ""),
  ]);
};
if (fixtureFile !== undefined) await fill(JSON.parse(readFileSync(fixtureFile, "utf8")) as BenchFixture);

const findKey = { name: "find-key", text: "SELECT * FROM keys WHERE hash = $1" };
const findLink = {
  name: "find-link",
  text: "SELECT game_id, link_version, last_verified_at FROM links WHERE pid = $1 AND chat_id = $2",
};

// Keys

/** Those who ask at once for a key that is not remembered wait for one look-up. */
const rememberedKeys = new Map<
  string,
  { readonly key: Promise<Key | undefined>; readonly freshUntil: number }
>();

/** Reads a key; one that there is not, or that could not be read, is not remembered. */
const readKey = async (token: string): Promise<Key | undefined> => {
  let key: Key | undefined;
  try {
    const { rows } = await pool.query<Record<string, unknown>>({ ...findKey, values: [hashOf(token)] });
    key = rows[0] === undefined ? undefined : keyOf(rows[0]);
    return key;
  } finally {
    if (key === undefined) rememberedKeys.delete(token);
  }
};

const authenticate = async (token: string, now: number): Promise<Key | undefined> => {
  if (token === "") return undefined;
  let known = rememberedKeys.get(token);
  if (known === undefined || known.freshUntil <= now) {
    known = { key: readKey(token), freshUntil: now + keyFreshness };
    rememberedKeys.set(token, known);
  }
  return known.key;
};

// Limits

const buckets = ["ip_second", "ip_day", "second", "day"] as const;

/**
 * Counts in all windows or in none. KEYS are the windows, ARGV the limit and the end of each. Gives the first that is
 * full or 0, the count of the key's second and when that ends, and the count of its day.
 */
const admitScript = `
local counts = redis.call('MGET', unpack(KEYS))
for i = 1, #KEYS do
  counts[i] = tonumber(counts[i] or 0)
  if counts[i] >= tonumber(ARGV[2 * i - 1]) then return {i, 0, 0, 0} end
end
for i, key in ipairs(KEYS) do
  redis.call('INCR', key)
  if counts[i] == 0 then redis.call('PEXPIREAT', key, ARGV[2 * i]) end
end
return {0, counts[3] + 1, redis.call('PEXPIRETIME', KEYS[3]), counts[4] + 1}`;

type Admitted = readonly [full: number, second: number, secondEnds: number, day: number];

interface Limiter extends Redis {
  readonly admit: (...keysAndArguments: ReadonlyArray<string | number>) => Promise<Admitted>;
}

const redis = new Redis(redisUrl, { keyPrefix: "peer:", enableAutoPipelining: true }) as Limiter;
redis.defineCommand("admit", { numberOfKeys: 4, lua: admitScript });

/** Counts the request, and gives the windows of the key. */
const admit = async ({ id, limits }: Key, ip: string, now: number): Promise<KeyWindows> => {
  const midnight = midnightAfter(now);
  const [full, second, secondEnds, day] = await redis.admit(
    `ip_second:${ip}`,
    `ip_day:${ip}`,
    `second:${id}`,
    `day:${id}`,
    addressLimits.perSecond,
    now + 1_000,
    addressLimits.daily,
    midnight,
    limits.perWindow,
    now + limits.windowMs,
    limits.daily,
    midnight,
  );
  if (full > 0) throw tooMany(buckets[full - 1] as string);
  return { second: { count: second, resetsAt: secondEnds }, day: { count: day, resetsAt: midnight } };
};

// The route

const getChat = async (request: ChatRequest, reply: FastifyReply) => {
  const exchange = openExchange();
  const { now } = exchange;
  try {
    const found = await authenticate(bearerToken(request.headers.authorization), now);
    const key = checkKey(found, request.ip, now);
    exchange.key = key;
    exchange.limits = await admit(key, request.ip, now);
    const chatId = readChatId(request);
    const { rows } = await pool.query<{ readonly game_id: string | null }>({
      ...findLink,
      values: [key.pid, chatId],
    });
    return sendLink(reply, exchange, chatId, rows[0]?.game_id);
  } catch (error) {
    return sendRefusal(reply, exchange, error);
  }
};

await serve(getChat, async () => {
  redis.disconnect();
  await pool.end();
});

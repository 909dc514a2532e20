/**
 * The store of the deployment that nodes share: `pg` with a pool of 10, and counts in Redis by ioredis. All limits of a
 * request are one script, and each lookup or write is one prepared statement.
 */
import { Redis } from "ioredis";
import { Pool, type PoolClient, type QueryResultRow } from "pg";
import { chatIdOf, fixture, ranges } from "../fixture.ts";
import { hashOf, type Key, keyFreshness, keyOf, pid } from "./keys.ts";
import { addressLimits, midnightAfter, tooMany } from "./limits.ts";
import type { KeyWindows, LinkWrite, OpenStore } from "./ports.ts";

const schema = `
  CREATE TABLE IF NOT EXISTS keys (
    hash text PRIMARY KEY, id text NOT NULL, pid text NOT NULL, tier text NOT NULL, status text NOT NULL,
    expires_at bigint, limits text NOT NULL, allow_ips text NOT NULL, deny_ips text NOT NULL
  );
  CREATE TABLE IF NOT EXISTS links (
    pid text NOT NULL, chat_id text NOT NULL, game_id text, previous_game_id text, link_version bigint NOT NULL,
    linked_at bigint NOT NULL, last_verified_at bigint NOT NULL, PRIMARY KEY (pid, chat_id)
  );
  CREATE INDEX IF NOT EXISTS links_by_game ON links (pid, game_id, linked_at DESC, chat_id) WHERE game_id IS NOT NULL;
  CREATE TABLE IF NOT EXISTS audit_log (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, account text NOT NULL, pid text,
    actor_type text NOT NULL, actor_id text NOT NULL, request_id text, action text NOT NULL, details text NOT NULL
  );
  CREATE INDEX IF NOT EXISTS audit_log_by_account ON audit_log (account, sequence);
`;

const fill = async (pool: Pool) => {
  const { keys, links } = fixture();
  for (const { key, tier, limits } of keys) {
    await pool.query("INSERT INTO keys VALUES ($1, $2, $3, $4, 'active', NULL, $5, '[]', '[]')", [
      hashOf(key),
      key.slice(4, 16),
      pid,
      tier,
      JSON.stringify(limits),
    ]);
  }
  await pool.query(
    "INSERT INTO links SELECT $1, chat_id, game_id, NULL, 1, $4, $4 FROM unnest($2::text[], $3::text[]) AS link (chat_id, game_id)",
    [
      pid,
      links.map(({ chatId }) => chatId),
      links.map(({ gameId }) => gameId),
      Date.parse(links[0]?.lastVerifiedAt ?? ""),
    ],
  );
  const removed = Array.from({ length: ranges.unlinked - ranges.changing }, (_, i) =>
    chatIdOf(ranges.changing + i),
  );
  await pool.query(
    "UPDATE links SET game_id = NULL, link_version = 2 WHERE pid = $1 AND chat_id = ANY ($2)",
    [pid, removed],
  );
};

/** A pool as that of the real server. */
export const openPool = (connectionString: string): Pool => new Pool({ connectionString, max: 10 });

/** The two statements of a write, for a transaction. */
const upsert = `
  INSERT INTO links VALUES ($1, $2, $3, NULL, 1, $4, $4)
  ON CONFLICT (pid, chat_id) DO UPDATE SET
    previous_game_id = links.game_id, game_id = excluded.game_id, last_verified_at = excluded.last_verified_at,
    link_version = links.link_version + CASE WHEN links.game_id = excluded.game_id THEN 0 ELSE 1 END,
    linked_at = CASE WHEN links.game_id = excluded.game_id THEN links.linked_at ELSE excluded.linked_at END
  RETURNING previous_game_id`;
const insertEntry = `
  INSERT INTO audit_log (at, account, pid, actor_type, actor_id, request_id, action, details)
  VALUES ($1, 'bench', $2, 'key', $3, $4, 'link.set', $5)`;

interface Replaced {
  readonly previous_game_id: string | null;
}

const writeGame = async (
  client: PoolClient,
  { pid: of, keyId, requestId, now, chatId, gameId }: LinkWrite,
): Promise<string | null> => {
  const { rows } = await client.query<Replaced>({
    name: "set-game",
    text: upsert,
    values: [of, chatId, gameId, now],
  });
  const previousGameId = rows[0]?.previous_game_id ?? null;
  if (previousGameId !== gameId) {
    const details = JSON.stringify({ chatId, gameId, previousGameId });
    await client.query({ name: "log", text: insertEntry, values: [now, of, keyId, requestId, details] });
  }
  return previousGameId;
};

/** Writes a link and its audit entry in a transaction; gives the game user that was replaced. */
export const setGame = async (pool: Pool, write: LinkWrite): Promise<string | null> => {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const previousGameId = await writeGame(client, write);
    await client.query("COMMIT");
    return previousGameId;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
};

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

const admitOn =
  (redis: Limiter) =>
  async ({ id, limits }: Key, ip: string, now: number): Promise<KeyWindows> => {
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

export const open: OpenStore = async ([databaseUrl = "", redisUrl = ""], isNew) => {
  const pool = openPool(databaseUrl);
  await pool.query(schema);
  if (isNew) await fill(pool);
  const redis = new Redis(redisUrl, { keyPrefix: "peer:", enableAutoPipelining: true }) as Limiter;
  redis.defineCommand("admit", { numberOfKeys: 4, lua: admitScript });

  const query = async <Row extends QueryResultRow>(
    name: string,
    text: string,
    values: ReadonlyArray<unknown>,
  ) => {
    const { rows } = await pool.query<Row>({ name, text, values: [...values] });
    return rows;
  };

  /** Those who ask at once for a key that is not remembered wait for one lookup. */
  const remembered = new Map<
    string,
    { readonly key: Promise<Key | undefined>; readonly freshUntil: number }
  >();

  /** A key that there is not, or that could not be read, is not remembered. */
  const readKey = async (token: string): Promise<Key | undefined> => {
    let key: Key | undefined;
    try {
      const [row] = await query("find-key", "SELECT * FROM keys WHERE hash = $1", [hashOf(token)]);
      key = row === undefined ? undefined : keyOf(row);
      return key;
    } finally {
      if (key === undefined) remembered.delete(token);
    }
  };

  return {
    findKey: (token, now) => {
      if (token === "") return undefined;
      let known = remembered.get(token);
      if (known === undefined || known.freshUntil <= now) {
        known = { key: readKey(token), freshUntil: now + keyFreshness };
        remembered.set(token, known);
      }
      return known.key;
    },
    admit: admitOn(redis),
    findGame: async (of, chatId) => {
      const text = "SELECT game_id FROM links WHERE pid = $1 AND chat_id = $2";
      const [row] = await query<{ readonly game_id: string | null }>("find-game", text, [of, chatId]);
      return row?.game_id;
    },
    findGames: async (of, chatIds) => {
      const text = `
        SELECT chat_id, game_id FROM links WHERE pid = $1 AND chat_id = ANY ($2) AND game_id IS NOT NULL`;
      const rows = await query<{ readonly chat_id: string; readonly game_id: string }>("find-games", text, [
        of,
        chatIds,
      ]);
      return new Map(rows.map(({ chat_id: chatId, game_id: gameId }) => [chatId, gameId]));
    },
    findChats: async (of, gameId) => {
      const text =
        "SELECT chat_id FROM links WHERE pid = $1 AND game_id = $2 ORDER BY linked_at DESC, chat_id";
      const rows = await query<{ readonly chat_id: string }>("find-chats", text, [of, gameId]);
      return rows.map(({ chat_id: chatId }) => chatId);
    },
    setGame: (write) => setGame(pool, write),
    close: async () => {
      redis.disconnect();
      await pool.end();
    },
  };
};

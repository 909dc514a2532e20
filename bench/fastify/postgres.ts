/**
 * The shared store of the Fastify server: `pg` with a pool of 10 connections, and ioredis with one script that counts a
 * request in all of its rate-limit windows.
 */
import { Redis } from "ioredis";
import { Pool } from "pg";
import { apiKey, fixture } from "../dataset.ts";
import * as Store from "./store.ts";

/**
 * Counts a request in all windows, or in no window if one is full. KEYS contains the windows; ARGV contains the limit
 * and the end of each window.
 *
 * Returns four numbers: the position of the first full window (0 if none is full), the count and the end of the key's
 * one-second window, and the count of the key's day.
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

type Admitted = [full: number, second: number, secondEnds: number, day: number];
type Limiter = Redis & { readonly admit: (...values: ReadonlyArray<string | number>) => Promise<Admitted> };

const fill = async (pool: Pool) => {
  await pool.query(Store.insertKey, [Store.hashOf(apiKey), JSON.stringify(Store.storedKey)]);
  const { links } = fixture();
  await pool.query(
    "INSERT INTO links SELECT $1, chat_id, game_id, NULL, 1, $4, $4 FROM unnest($2::text[], $3::text[]) AS link (chat_id, game_id)",
    [Store.pid, links.map(({ chatId }) => chatId), links.map(({ gameId }) => gameId), Date.now()],
  );
};

export const open = async (url: string, redisUrl: string, isNew: boolean): Promise<Store.Database> => {
  const pool = new Pool({ connectionString: url, max: 10 });
  await pool.query(Store.schemaOf("bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", ""));
  if (isNew) await fill(pool);
  const redis = new Redis(redisUrl, { keyPrefix: "peer:", enableAutoPipelining: true }) as Limiter;
  redis.defineCommand("admit", { numberOfKeys: 4, lua: admitScript });

  return {
    rows: async (name, ...values) =>
      (await pool.query({ name, text: Store.statements[name], values: [...values] })).rows,
    admit: async (rules) => {
      const keys = rules.map(({ bucket, id }) => `${bucket}:${id}`);
      const values = rules.flatMap(({ limit, endsAt }) => [limit, endsAt]);
      const [full, second, secondEnds, day] = await redis.admit(...keys, ...values);
      return rules[full - 1]?.bucket ?? { second, secondEnds, day };
    },
    setGame: async (write) => {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const values = [write.pid, write.chatId, write.gameId, write.now];
        const set = { name: "setGame", text: Store.statements.setGame, values };
        const { rows } = await client.query<Store.SetRow>(set);
        const row = rows[0] as Store.SetRow;
        const previousGameId = row.previous_game_id;
        if (previousGameId !== write.gameId) {
          const record = [...Store.recordOf(write, row)];
          await client.query({ name: "insertRecord", text: Store.statements.insertRecord, values: record });
        }
        if (write.once !== null) {
          const once = [...Store.onceOf(write.once, write.now, previousGameId)];
          const kept = { name: "insertOnce", text: Store.statements.insertOnce, values: once };
          if ((await client.query(kept)).rowCount === 0) throw new Store.KeyUsed();
        }
        await client.query("COMMIT");
        return { previousGameId };
      } catch (error) {
        await client.query("ROLLBACK");
        if (!(error instanceof Store.KeyUsed)) throw error;
        const find = { name: "findOnce", text: Store.statements.findOnce, values: [write.once?.id] };
        return Store.keptIn((await client.query(find)).rows);
      } finally {
        client.release();
      }
    },
    close: async () => {
      redis.disconnect();
      await pool.end();
    },
  };
};

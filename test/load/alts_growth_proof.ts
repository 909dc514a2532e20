/**
 * The time of `GET /v2/alts` at 10 million sightings beside that at 10,000, and where an address has 100,000 users or a
 * user 1,000 addresses.
 */
import { makePostgresDatabase, whyNoPostgres } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningServer, startServer } from "../support/server.ts";
import { makeWorld, type SeenAt } from "../support/world.ts";

const [few, many] = [10_000, 10_000_000];
const [sharedBy, addressCount] = [100_000, 1_000];
const rounds = 400;

const users = { ordinary: "100001", crowded: "100002", traveller: "100003" } as const;
type User = keyof typeof users;

const world = makeWorld();
const seen = (chatId: string, ip: string): SeenAt => ({ chatId, ip, seenAt: new Date().toISOString() });
const sightings = [
  ...["100001", "100011", "100012"].map((chatId) => seen(chatId, "203.0.113.1")),
  ...["100002", "100021", "100022"].map((chatId) => seen(chatId, "203.0.113.2")),
  ...Array.from({ length: addressCount }, (_, i) => seen(users.traveller, `198.18.${i >> 8}.${i & 255}`)),
];
const key = world.key({ tier: "premium", sightings });

/** Fills the scope past the server: strangers, and whoever is at the addresses of its users. */
const fill = (strangers: number): ReadonlyArray<string> => [
  `INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at)
    SELECT pid, (1000000000 + i)::text, 'stranger_of_the_length_of_a_hash_' || i / 3, 'sealed', 'none',
      (EXTRACT(EPOCH FROM now()) * 1000)::bigint - i
    FROM scopes, generate_series(1, ${strangers}) AS i`,
  `INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at)
    SELECT pid, (500000000 + i)::text, place_hash, 'sealed', 'none', seen_at - i * 1000
    FROM sightings, generate_series(1, ${sharedBy}) AS i WHERE chat_id = '${users.crowded}'`,
  `INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at)
    SELECT pid, (600000000 + row_number() OVER ())::text, place_hash, 'sealed', 'none', seen_at - 1000
    FROM sightings, generate_series(1, 2) AS i WHERE chat_id = '${users.traveller}'`,
  "DELETE FROM place_users",
  `INSERT INTO place_users (pid, place_hash, users)
    SELECT pid, place_hash, COUNT(*) FROM sightings GROUP BY pid, place_hash`,
];

const scope = Scope.makeUnsafe();
const inScope = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.runPromise(Scope.provide(effect, scope));

interface Filled extends RunningServer {
  readonly countSightings: () => Promise<number>;
  /** How often Postgres has scanned its large tables. */
  readonly countScans: () => Promise<{ readonly sequential: number; readonly indexed: number }>;
}

const start = async (strangers: number): Promise<Filled> => {
  const { url, query } = await inScope(makePostgresDatabase());
  const server = await startServer({
    fixture: world.fixture,
    env: {
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: url,
      ACCOUNTLINK_SECRET: Buffer.alloc(32, 7).toString("base64"),
    },
  });
  for (const statement of fill(strangers)) {
    await inScope(query(`SET session_replication_role = replica; ${statement}`));
  }
  await inScope(query("VACUUM ANALYZE"));
  const count = query("SELECT COUNT(*) AS count FROM sightings");
  // Of small tables a sequential scan is the best plan.
  const scans = query(`
    SELECT SUM(seq_scan) AS sequential, SUM(idx_scan) AS indexed
    FROM pg_stat_user_tables WHERE n_live_tup > 10000`);
  const countScans = async () => {
    const [row] = await inScope(scans);
    return { sequential: Number(row?.["sequential"]), indexed: Number(row?.["indexed"]) };
  };
  return { ...server, countScans, countSightings: async () => Number((await inScope(count))[0]?.["count"]) };
};

const missing = await whyNoPostgres();

describe.skipIf(missing !== null)(`GET /v2/alts ${missing ?? "on Postgres"}`, () => {
  let servers: Readonly<Record<"few" | "many", Filled>>;
  beforeAll(async () => {
    servers = { few: await start(few), many: await start(many) };
  }, 30 * 60_000);
  afterAll(async () => {
    await servers.few.stop();
    await servers.many.stop();
    await Effect.runPromise(Scope.close(scope, Exit.void));
  });

  test("takes no longer with more sightings or users of an address", async () => {
    const times = new Map<string, Array<number>>();
    const ask = async (server: keyof typeof servers, user: User) => {
      const started = performance.now();
      const { status } = await servers[server].send(`GET /v2/alts?chatId=${users[user]}`, { key });
      const name = `${user} among ${server}`;
      times.set(name, [...(times.get(name) ?? []), performance.now() - started]);
      expect(status).toBe(200);
    };
    const before = await servers.many.countScans();
    for (let round = 0; round < rounds; round++) {
      for (const user of Object.keys(users) as Array<User>) {
        await ask("few", user);
        await ask("many", user);
      }
    }
    const quantile = (name: string, part: number) => {
      // The first answers are those of cold caches.
      const sorted = (times.get(name) ?? []).slice(50).toSorted((one, other) => one - other);
      return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
    };
    for (const name of times.keys()) {
      console.log(
        `${name}: p50 ${quantile(name, 0.5).toFixed(1)} ms, p99 ${quantile(name, 0.99).toFixed(1)} ms`,
      );
    }
    // Postgres counts what a connection did some seconds after it did it.
    await expect
      .poll(async () => (await servers.many.countScans()).indexed, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(before.indexed + rounds * Object.keys(users).length);
    expect((await servers.many.countScans()).sequential).toBe(before.sequential);
    // None of them was forgotten meanwhile.
    expect(await servers.many.countSightings()).toBeGreaterThan(many);
    // Each beside itself: where a user has 1,000 addresses, as many are opened and looked for.
    for (const user of Object.keys(users)) {
      expect(quantile(`${user} among many`, 0.99)).toBeLessThan(3 * quantile(`${user} among few`, 0.99));
    }
    const usual = quantile("ordinary among few", 0.99);
    expect(quantile("crowded among many", 0.99)).toBeLessThan(3 * usual);
  });
});

/**
 * 100,000 idempotency keys: what they take, and how the server answers while it deletes those that have ended.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import {
  makePostgresDatabase,
  redisUrl,
  whyNoPostgresDatabase,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect } from "effect";
import { expect, test } from "vitest";
import { type ServerProcess, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";

const count = 100_000;
/** Written by requests; the others are copies of them, under other names. */
const requested = 1_000;
/** Of the requested ones; they have not ended. */
const lasting = 100;

type Row = Readonly<Record<string, unknown>>;

/** A database of a server, from beside it. */
interface Beside {
  readonly query: (sql: string) => Promise<ReadonlyArray<Row>>;
  /** An expression that is another text in every row. */
  readonly anyText: string;
  /** How much the table takes, in bytes. */
  readonly size: string;
}

const sqliteBeside = ({ dataFolder }: ServerProcess): Beside & { readonly close: () => void } => {
  const db = new DatabaseSync(join(dataFolder, "accountlink.db"), { timeout: 30_000 });
  return {
    query: (sql) => Promise.resolve(db.prepare(sql).all()),
    anyText: "hex(randomblob(32))",
    size: "SELECT page_count * 4096 AS value FROM pragma_page_count()",
    close: () => db.close(),
  };
};

const world = makeWorld();
const key = world.key();
const { fixture } = world;

const write = (server: ServerProcess, number: number) =>
  server.send("PATCH /v2/game", {
    key,
    headers: { "idempotency-key": `key-${number}` },
    body: { chatId: String(200_000 + number), gameId: "1" },
  });

const isReplayed = async (server: ServerProcess, number: number) => {
  const { status, headers } = await write(server, number);
  expect(status).toBe(200);
  return headers["idempotent-replayed"] === "true";
};

/** Asks without a pause until it is told to end, and gives how long each answer took, in milliseconds. */
const askAll = async ({ send }: ServerProcess, signal: AbortSignal) => {
  const times: Array<number> = [];
  while (!signal.aborted) {
    const sent = performance.now();
    expect((await send("GET /healthz")).status).toBe(200);
    times.push(performance.now() - sent);
  }
  return times;
};

const memoryOf = ({ pid }: ServerProcess) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;

/** Fills the table, lets it end, and waits for the sweep. */
const run = async (server: ServerProcess, { query, anyText, size }: Beside) => {
  const rows = async () =>
    Number((await query("SELECT COUNT(*) AS value FROM idempotency_keys"))[0]?.["value"]);
  const bytes = async () => Number((await query(size))[0]?.["value"]);
  const empty = await bytes();
  for (let number = 0; number < requested; number++) await write(server, number);
  const memory = memoryOf(server);
  await query(`
    INSERT INTO idempotency_keys (id, request_id, fingerprint, answer, chat_ids, ends_at)
    WITH RECURSIVE copies (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM copies WHERE i < ${count / requested})
    SELECT ${anyText}, request_id, fingerprint, answer, chat_ids, ends_at FROM idempotency_keys, copies`);
  const full = await bytes();
  expect(await rows()).toBe(count);
  expect(await isReplayed(server, requested - 1)).toBe(true);

  await query(`
    UPDATE idempotency_keys SET ends_at = 1
    WHERE id NOT IN (SELECT id FROM idempotency_keys ORDER BY ends_at DESC, request_id DESC LIMIT ${lasting})`);
  while ((await rows()) === count) await sleep(10);
  const under = new AbortController();
  const asked = askAll(server, under.signal);
  const began = performance.now();
  while ((await rows()) > lasting) await sleep(10);
  const seconds = (performance.now() - began) / 1_000;
  under.abort();
  const times = await asked;
  console.log({
    megabytes: (full - empty) / 1e6,
    seconds,
    answers: times.length,
    longest: Math.max(...times),
    memory: [memory, memoryOf(server)].map(Math.round),
  });
  return times.length;
};

/** A batch of 500 is deleted between two turns of the server, and an answer takes some turns. */
const fewestAnswers = count / 500 / 10;

test("on the embedded storage, requests are answered while the sweep deletes them, and the others stay", async () => {
  const server = await startServer({ fixture });
  const { close, ...beside } = sqliteBeside(server);
  expect(await run(server, beside)).toBeGreaterThan(fewestAnswers);
  expect(await isReplayed(server, requested - 1)).toBe(true);
  expect(await isReplayed(server, 0)).toBe(false);
  close();
  expect(await server.stop()).toBe(0);
});

const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedisUrl());

test.skipIf(missing !== null)(`on Postgres too ${missing ?? ""}`, () =>
  Effect.gen(function* () {
    const { url, query } = yield* makePostgresDatabase();
    const env = {
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: url,
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: yield* redisUrl,
      ACCOUNTLINK_REDIS_PREFIX: `test-${randomBytes(8).toString("hex")}:`,
      ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    };
    yield* Effect.promise(async () => {
      const server = await startServer({ fixture, env });
      await run(server, {
        query: (sql) => Effect.runPromise(query(sql)),
        anyText: "gen_random_uuid()::text || gen_random_uuid()::text",
        size: "SELECT pg_total_relation_size('idempotency_keys') AS value",
      });
      expect(await isReplayed(server, requested - 1)).toBe(true);
      expect(await isReplayed(server, 0)).toBe(false);
      expect(await server.stop()).toBe(0);
    });
  }).pipe(Effect.scoped, Effect.runPromise),
);

/**
 * What grows with the links of a scope, and what does not: lookups, writes, imports, the deletion of all links and how
 * long others wait for it, start and memory. On Postgres from ten thousand to ten million, embedded to one million. It
 * judges orders of magnitude only.
 */
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ChatId, GameId, KeyId, LinkStore, Pid } from "@accountlink/core";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect, Layer, Redacted } from "effect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unreachedAddressLimits, unreachedKeyLimits } from "../../bench/fixture.ts";
import { type RunningServer, startServer } from "../../bench/server_process.ts";
import { missing, useServers } from "./scaling_servers.ts";

const { run, makeDatabase, spent } = useServers("6GB");

const accounts = ["grows", "waits"] as const;
type Account = (typeof accounts)[number];
/** The public id of a key has twelve characters. */
const keyOf = (account: Account) => `alk_Growing${account}_${"k".repeat(43)}`;

const fixture = {
  accounts: accounts.map((name) => ({ name, tier: "premium" })),
  keys: accounts.map((account) => ({
    key: keyOf(account),
    account,
    scope: "global",
    limits: unreachedKeyLimits,
  })),
  links: [{ account: "waits", scope: "global", chatId: "100001", gameId: "1" }],
  platform: { gameUsers: [{ id: "1" }, { id: "2" }] },
};

const chatIdOf = (index: number): ChatId =>
  ChatId.make(String(100_000_000_000_000_000n + BigInt(index) * 7_919n));

/** Links of the scope `$pid`, in no order, as chat users come: an index that is filled so has room in its pages. */
const columns = "(pid, chat_id, game_id, link_version, linked_at, last_verified_at)";

let folder = "";
let fixtureFile = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-growth-"));
  // The server of Postgres has a user of its own.
  await chmod(folder, 0o755);
  fixtureFile = join(folder, "fixture.json");
  await writeFile(fixtureFile, JSON.stringify(fixture));
});
afterAll(() => rm(folder, { recursive: true }));

/** A storage with both scopes, on which statements can be run while no server is. */
interface Place {
  readonly environment: Readonly<Record<string, string>>;
  readonly layer: Layer.Layer<LinkStore, unknown>;
  readonly ask: (sql: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>;
  readonly fill: (pid: string, count: number) => string;
  /** Leaves the storage as it would be some time later. */
  readonly settle: string;
  /** Microseconds of the databases' processor time so far. */
  readonly databaseTime: () => Promise<number>;
}

const postgres = async (): Promise<Place> => {
  const { url, query } = await makeDatabase();
  const options = { url: Redacted.make(url), statementTimeout: "60 seconds" } as const;
  return {
    environment: {
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: url,
      ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    },
    layer: StoragePostgres.layerPostgres(options),
    ask: (sql) => run(query(sql)),
    fill: (pid, count) => `
      SET session_replication_role = replica;
      INSERT INTO links ${columns}
        SELECT '${pid}', (100000000000000000 + i * 7919::bigint)::text, (1000000000 + i)::text, 1, 1760000000000 + i,
          1760000000000 + i
        FROM (SELECT i FROM generate_series(0, ${count - 1}) AS i ORDER BY hashint4(i)) AS anyhow`,
    settle: "VACUUM ANALYZE",
    databaseTime: async () => (await spent()).postgres,
  };
};

const embedded = async (): Promise<Place> => {
  const data = await mkdtemp(join(folder, "data-"));
  return {
    environment: { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: data },
    layer: StorageSql.layerEmbedded({ folder: data }),
    ask: async (sql) => {
      const database = new DatabaseSync(StorageSql.databaseFile(data));
      const rows = database.prepare(sql).all();
      database.close();
      return rows;
    },
    fill: (pid, count) => `
      INSERT INTO links ${columns}
        WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count - 1})
        SELECT '${pid}', CAST(100000000000000000 + i * 7919 AS TEXT), CAST(1000000000 + i * 104729 % 1000003 AS TEXT), 1, 1760000000000 + i,
          1760000000000 + i
        FROM numbers ORDER BY i * 7919 % 1000003`,
    settle: "ANALYZE",
    databaseTime: async () => 0,
  };
};

const serve = ({ environment }: Place): Promise<RunningServer> =>
  startServer([join(import.meta.dirname, "../../apps/server/main.ts"), "serve"], {
    ...unreachedAddressLimits,
    ACCOUNTLINK_PORT: "0",
    ACCOUNTLINK_PLATFORM: "dev",
    ACCOUNTLINK_FIXTURE: fixtureFile,
    ...environment,
  });

const send = async (url: string, account: Account, method: string, path: string, body?: object) => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${keyOf(account)}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const answer = (await response.json()) as { readonly data: Record<string, unknown> };
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return answer.data;
};

/** The pid of the scope that grows. */
const prepare = async (place: Place, count: number): Promise<string> => {
  await (await serve(place)).stop();
  const [scope] = await place.ask("SELECT pid FROM scopes WHERE account = 'grows'");
  const pid = String(scope?.["pid"]);
  await place.ask(place.fill(pid, count));
  await place.ask(place.settle);
  return pid;
};

/** Microseconds that each of many took: by the clock, and of processors. */
const timed = async (count: number, { databaseTime }: Place, work: Effect.Effect<unknown, unknown>) => {
  const before = { at: performance.now(), used: process.cpuUsage(), database: await databaseTime() };
  await Effect.runPromise(work);
  const used = process.cpuUsage(before.used);
  return {
    micros: Math.round(((performance.now() - before.at) * 1_000) / count),
    processor: Math.round((used.user + used.system + (await databaseTime()) - before.database) / count),
  };
};

const at = Date.UTC(2026, 0, 1);
const origin = {
  actor: { type: "key", id: KeyId.make("A".repeat(12)) },
  at,
  requestId: `req_${"0".repeat(26)}`,
} as const;

const batchSize = 20_000;
const imported = 200_000;

const measureStore = async (place: Place, pid: Pid, count: number) => {
  return Effect.runPromise(
    Effect.gen(function* () {
      const store = yield* LinkStore;
      const lookUp = (reads: number, concurrency: number, among = count) =>
        Effect.forEach(
          Array.from({ length: reads }, (_, i) => (i * 7_907) % among),
          (i) => store.findByChatId(pid, chatIdOf(i)),
          { concurrency, discard: true },
        );
      const write = Effect.forEach(
        Array.from({ length: 5_000 }, (_, i) => (i * 7_907) % count),
        (i) => store.setGame({ ...origin, pid, chatId: chatIdOf(i), gameId: GameId.make("42") }),
        { concurrency: 32, discard: true },
      );
      const batches = Array.from({ length: imported / batchSize }, (_, batch) =>
        Array.from({ length: batchSize }, (__, i) => ({
          chatId: chatIdOf(count + batch * batchSize + i),
          gameId: GameId.make("43"),
          lastVerifiedAt: at,
        })),
      );
      const importAll = Effect.forEach(
        batches,
        (links) => store.importBatch({ ...origin, pid, existing: "keep", progress: null, links }),
        { discard: true },
      );
      const measure = (each: number, work: Effect.Effect<unknown, unknown>) =>
        Effect.promise(() => timed(each, place, work));
      yield* lookUp(20_000, 32);
      return {
        lookUpAlone: yield* measure(5_000, lookUp(5_000, 1)),
        lookUpOf32: yield* measure(50_000, lookUp(50_000, 32)),
        // The same lookup of links that caches hold: what is left of the growth is that of the index.
        lookUpOfFew: yield* measure(50_000, lookUp(50_000, 32, 10_000)),
        write: yield* measure(5_000, write),
        imported: yield* measure(imported, importAll),
      };
    }).pipe(Effect.provide(Layer.fresh(place.layer))),
  );
};

/** The same rows as an import's, by COPY into another scope. */
const measureCopy = async (place: Place, count: number) => {
  const [other] = await place.ask("SELECT pid FROM scopes WHERE account = 'waits'");
  const file = join(folder, "rows.csv");
  const lines = Array.from(
    { length: imported },
    (_, i) => `${String(other?.["pid"])},${chatIdOf(count + i)},43,1,${at},${at}\n`,
  );
  await writeFile(file, lines.join(""), { mode: 0o644 });
  await place.ask("CHECKPOINT");
  return timed(
    imported,
    place,
    Effect.promise(() => place.ask(`COPY links ${columns} FROM '${file}' CSV`)),
  );
};

/** How long others wait at most while all links of a scope are deleted, in milliseconds. */
const measureReset = async (url: string, count: number) => {
  const probing = { isOver: false };
  const longestOf = async (ask: (turn: number) => Promise<unknown>) => {
    let longest = 0;
    for (let turn = 0; !probing.isOver; turn++) {
      const started = performance.now();
      await ask(turn);
      longest = Math.max(longest, performance.now() - started);
    }
    return Math.round(longest);
  };
  const probe = () => [
    longestOf(() => send(url, "waits", "GET", "/v2/chat?chatId=100001")),
    longestOf((turn) =>
      send(url, "waits", "PATCH", "/v2/game", { chatId: "100001", gameId: `${1 + (turn % 2)}` }),
    ),
  ];
  // What they wait without it.
  const idle = probe();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  probing.isOver = true;
  const [readIdle, writeIdle] = await Promise.all(idle);
  probing.isOver = false;
  const waits = probe();
  const started = performance.now();
  const { deletedRecords } = await send(url, "grows", "DELETE", "/v2/data", { confirm: true });
  const seconds = (performance.now() - started) / 1_000;
  probing.isOver = true;
  const [read, write] = await Promise.all(waits);
  expect(deletedRecords).toBeGreaterThanOrEqual(count);
  return { seconds, deletedRecords, longestRead: read, longestWrite: write, readIdle, writeIdle };
};

const grow = async (name: string, place: Place, count: number) => {
  const pid = await prepare(place, count);
  const store = await measureStore(place, Pid.make(pid), count);
  const copied = name === "Postgres" ? await measureCopy(place, count) : null;
  const started = performance.now();
  const server = await serve(place);
  const secondsToStart = (performance.now() - started) / 1_000;
  try {
    await send(server.url, "waits", "GET", "/v2/chat?chatId=100001");
    const megabytes = Math.round((server.memory() ?? Number.NaN) / 2 ** 20);
    const reset = count <= 1_000_000 ? await measureReset(server.url, count) : null;
    console.log(name, count, JSON.stringify({ ...store, copied, secondsToStart, megabytes, reset }));
    return store;
  } finally {
    await server.stop();
  }
};

const compare = async (name: string, open: () => Promise<Place>, counts: ReadonlyArray<number>) => {
  const grown: Array<Awaited<ReturnType<typeof grow>>> = [];
  for (const count of counts) grown.push(await grow(name, await open(), count));
  const [least, most] = [grown[0], grown.at(-1)];
  const ratio = Number(most?.lookUpOf32.processor) / Number(least?.lookUpOf32.processor);
  console.log(
    `${name}: a lookup among ${counts.at(-1)} links takes ${ratio.toFixed(2)} times one among ${counts[0]}`,
  );
  return ratio;
};

/** A machine that is full of other work tells no more than that. */
const mostGrowth = 3;

describe("links grow", () => {
  test("embedded", async () => {
    expect(await compare("Embedded", embedded, [10_000, 100_000, 1_000_000])).toBeLessThan(mostGrowth);
  });

  test.skipIf(missing !== null)(`on Postgres ${missing ?? ""}`, async () => {
    const counts = [10_000, 100_000, 1_000_000, 10_000_000];
    expect(await compare("Postgres", postgres, counts)).toBeLessThan(mostGrowth);
  });
});

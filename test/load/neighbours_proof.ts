/**
 * One account does its worst at each route and with each work in the background, on each storage: lookups, writes,
 * guild lookups, sign-ins and previews of another account are refused never, and are at most five times as slow, or take 100 ms. The
 * platforms, the attacker and the neighbour run in processes of their own.
 *
 * The whole takes an hour, which parts can share: `ACCOUNTLINK_TEST_ROWS` is a pattern of names of rows,
 * `ACCOUNTLINK_TEST_RESULTS` a file that gets the results and whose rows are not measured again, and
 * `ACCOUNTLINK_TEST_MINUTES` says when a part ends.
 */
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { redisUrl, startPostgres, whyNoPostgres, whyNoRedis } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { apartProgram, startServer } from "../support/server.ts";
import { flood } from "./flooding.ts";
import { attacksOn, bulksOf } from "./neighbours/attacks.ts";
import { makeNeighbour } from "./neighbours/neighbour.ts";
import { isFailed, type Measured, makeRounds } from "./neighbours/rounds.ts";
import { makeAttacker, makeWorld } from "./neighbours/world.ts";

const size = {
  links: Number(process.env["ACCOUNTLINK_TEST_LINKS"] ?? 20_000),
  members: 2_500,
  revokedKeys: 500,
  communities: 100,
};

const newPrefix = () => `neighbours-${randomBytes(4).toString("hex")}:`;

const storages = {
  embedded: Effect.succeed({}),
  "Postgres with Redis": Effect.gen(function* () {
    const postgres = yield* startPostgres();
    return {
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: postgres.urlOf("postgres"),
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: yield* redisUrl,
      ACCOUNTLINK_REDIS_PREFIX: newPrefix(),
      ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    };
  }),
  Redis: Effect.map(redisUrl, (url) => ({
    ACCOUNTLINK_STORAGE: "redis",
    ACCOUNTLINK_DATABASE_URL: url,
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: url,
    ACCOUNTLINK_REDIS_PREFIX: newPrefix(),
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
  })),
} as const;

const missing = (await whyNoPostgres()) ?? (await whyNoRedis());
const chosen = new RegExp(process.env["ACCOUNTLINK_TEST_ROWS"] ?? "");
const resultsFile = process.env["ACCOUNTLINK_TEST_RESULTS"];
const minutes = Number(process.env["ACCOUNTLINK_TEST_MINUTES"] ?? Infinity);
const storageNames =
  missing === null ? (Object.keys(storages) as Array<keyof typeof storages>) : ["embedded" as const];

interface Row extends Measured {
  readonly storage: keyof typeof storages;
  readonly name: string;
}

const readResults = (): ReadonlyArray<Row> =>
  resultsFile !== undefined && existsSync(resultsFile)
    ? readFileSync(resultsFile, "utf8")
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Row]))
    : [];

const note = (row: Row): void => {
  console.log(JSON.stringify(row));
  if (resultsFile !== undefined) appendFileSync(resultsFile, `${JSON.stringify(row)}\n`);
};

/** Starts a server with both accounts. */
const startWorld = Effect.fnUntraced(function* (storage: keyof typeof storages) {
  const { fixture, env, ...access } = makeWorld(size);
  const stored = yield* storages[storage];
  const environment = { ...env, ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.1/32", ...stored };
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startServer({ fixture, env: environment, program: apartProgram })),
    ({ stop }) => Effect.promise(stop),
  );
  return { server, ...access };
});

/** Measures rows on a new server, until `end`. */
const measureOn = Effect.fnUntraced(function* (
  storage: keyof typeof storages,
  isMeant: (name: string) => boolean,
  end: number,
) {
  const { server, ...access } = yield* startWorld(storage);
  return yield* Effect.promise(async () => {
    const attacker = await makeAttacker(server, access, size);
    const neighbour = await makeNeighbour(server.url, access.keys);
    const { compare } = makeRounds(neighbour);
    // A server that has just started is slow.
    await neighbour.measure(5_000);
    const rows: Array<Row> = [];
    for (const [name, attack] of attacksOn({ url: server.url, attacker, size })) {
      if (!isMeant(name)) continue;
      if (performance.now() > end) throw new Error("The part has ended, and rows are left");
      // Its end would look like refusals.
      process.kill(server.pid, 0);
      const row = { storage, name, ...(await compare(attack)) };
      if (row.hasWorked) note(row);
      rows.push(row);
    }
    neighbour.close();
    return rows;
  });
}, Effect.scoped);

/**
 * Measures the rows of a storage that have no result yet: all on one server, then each that got no expected answer on
 * another. Returns the results of all.
 */
const measure = Effect.fnUntraced(function* (storage: keyof typeof storages) {
  const end = performance.now() + minutes * 60_000;
  const known = readResults().filter((row) => row.storage === storage);
  const isKnown = new Set(known.map(({ name }) => name));
  const rows = yield* measureOn(storage, (name) => chosen.test(name) && !isKnown.has(name), end);
  // The rows before them may have reached a limit of the attacker's account, such as the platforms' refusals.
  const idle = rows.filter(({ hasWorked }) => !hasWorked);
  const again = yield* Effect.forEach(idle, ({ name }) => measureOn(storage, (other) => other === name, end));
  return [...known, ...rows.filter(({ hasWorked }) => hasWorked), ...again.flat()];
});

testLive.each(storageNames)("the neighbour of an attacker goes on, on %s", function* (storage) {
  const measured = yield* measure(storage);
  expect(measured.filter(isFailed)).toEqual([]);
});

/** How often bulks are counted alone and beside the neighbour, and for how many milliseconds each. */
const [counts, countedFor] = [5, 3_000];

const middleOf = (all: ReadonlyArray<number>): number =>
  all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0;

testLive.each(chosen.test("bulk customer") ? storageNames : [])(
  "a bulk customer beside a quiet neighbour gets at least half of the bulks that they get alone, on %s",
  function* (storage) {
    const { server, keys } = yield* startWorld(storage);
    yield* Effect.promise(async () => {
      const port = Number(new URL(server.url).port);
      const lookUp = () =>
        server.send("GET /v2/chat?chatId=100001", { key: keys.neighbour, from: "198.18.201.9" });
      const count = async (isBeside: boolean) => {
        // Whoever sent a request in the last second counts as there.
        await pause(1_500);
        const flooding = await flood({ ...bulksOf(keys.customer), port });
        for (const end = performance.now() + countedFor; performance.now() < end; await pause(100))
          if (isBeside) expect((await lookUp()).status).toBe(200);
        return (await flooding.stop()).get("200") ?? 0;
      };
      // A server that has just started is slow.
      await count(false);
      const [alone, beside]: [Array<number>, Array<number>] = [[], []];
      for (let round = 0; round < counts; round++) {
        alone.push(await count(false));
        beside.push(await count(true));
      }
      console.log(JSON.stringify({ storage, name: "bulk customer", alone, beside }));
      expect(middleOf(beside)).toBeGreaterThan(middleOf(alone) / 2);
    });
  },
);

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
import { redisUrl, startPostgres, whyNoPostgres, whyNoRedis } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { apartProgram, startServer } from "../support/server.ts";
import { attacksOn } from "./neighbours/attacks.ts";
import { makeNeighbour } from "./neighbours/neighbour.ts";
import { isFailed, type Measured, makeRounds } from "./neighbours/rounds.ts";
import { makeAttacker, makeWorld } from "./neighbours/world.ts";

const size = {
  links: Number(process.env["ACCOUNTLINK_TEST_LINKS"] ?? 20_000),
  members: 2_500,
  revokedKeys: 500,
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

/** Measures rows on a new server, until `end`. */
const measureOn = Effect.fnUntraced(function* (
  storage: keyof typeof storages,
  isMeant: (name: string) => boolean,
  end: number,
) {
  const { fixture, env, ...access } = makeWorld(size);
  const stored = yield* storages[storage];
  const environment = { ...env, ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.1/32", ...stored };
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startServer({ fixture, env: environment, program: apartProgram })),
    ({ stop }) => Effect.promise(stop),
  );
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

/**
 * One account does its worst at each route and with each work in the background, on each storage: lookups, writes,
 * guild lookups, sign-ins and previews of another account are refused never, and are at most five times as slow.
 */
import { randomBytes } from "node:crypto";
import { redisUrl, startPostgres, whyNoPostgres, whyNoRedis } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { serverInScope, startServer } from "../support/server.ts";
import { flood } from "./flooding.ts";
import { type Latencies, makeNeighbour, operations, p99 } from "./neighbours/neighbour.ts";
import { type HttpAttack, requestOf } from "./neighbours/requests.ts";
import { routeRows } from "./neighbours/route_rows.ts";
import { makeTools, works } from "./neighbours/works.ts";
import { makeAttacker, makeWorld } from "./neighbours/world.ts";

/** How many times as slow the neighbour's requests may be. */
const most = 5;

/** Shorter times are not compared, since the other work of a machine takes as long, in milliseconds. */
const least = 10;

/** How long each attack is measured, in milliseconds. A row that seems too slow is measured once more, for longer. */
const [usual, longer] = [1_500, 5_000];

const size = {
  links: Number(process.env["ACCOUNTLINK_TEST_LINKS"] ?? 20_000),
  members: 2_500,
  revokedKeys: 500,
};

/** The attacker's machines, and the number of their connections. */
const addresses = Array.from({ length: 16 }, (_, index) => `127.0.3.${index + 1}`);
const connections = 32;

const rawOf = ({ line, headers, body }: HttpAttack): string => {
  const bytes = Buffer.from(body);
  const lines = [
    `${line} HTTP/1.1`,
    "Host: 127.0.0.1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(bytes.length > 0 ? [`Content-Length: ${bytes.length}`] : []),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${bytes.toString("latin1")}`;
};

const storages = {
  embedded: Effect.succeed({}),
  "Postgres with Redis": Effect.gen(function* () {
    const postgres = yield* startPostgres();
    return {
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: postgres.urlOf("postgres"),
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: yield* redisUrl,
      ACCOUNTLINK_REDIS_PREFIX: "neighbours-postgres:",
      ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    };
  }),
  Redis: Effect.map(redisUrl, (url) => ({
    ACCOUNTLINK_STORAGE: "redis",
    ACCOUNTLINK_DATABASE_URL: url,
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: url,
    ACCOUNTLINK_REDIS_PREFIX: "neighbours:",
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
  })),
} as const;

const missing = (await whyNoPostgres()) ?? (await whyNoRedis());
const chosen = process.env["ACCOUNTLINK_TEST_ROWS"];
const isChosen = (name: string) => chosen === undefined || new RegExp(chosen).test(name);
const storageNames =
  missing === null ? (Object.keys(storages) as Array<keyof typeof storages>) : ["embedded" as const];

interface Measured {
  readonly name: string;
  readonly statuses: string;
  /** How many times as slow each operation was at the 99th percentile. */
  readonly ratios: ReadonlyArray<number>;
  readonly beside: ReadonlyArray<number>;
}

/** Attacks for so many milliseconds. Returns the neighbour's latencies meanwhile, and what the attacker was answered. */
type Attack = (milliseconds: number) => Promise<readonly [Latencies, string]>;

const isTooSlow = ({ ratios }: Measured): boolean => Math.max(...ratios) > most;

const ratiosOf = (before: Latencies, beside: Latencies): ReadonlyArray<number> =>
  operations.map(
    (operation) => Math.round((10 * p99(beside[operation])) / Math.max(least, p99(before[operation]))) / 10,
  );

const measure = Effect.fnUntraced(function* (storage: keyof typeof storages) {
  const { fixture, keys, env } = makeWorld(size);
  const stored = yield* storages[storage];
  const server = yield* serverInScope(
    { fixture, env: { ...env, ACCOUNTLINK_TRUSTED_PROXIES: "127.0.0.1/32", ...stored } },
    startServer,
  );
  return yield* Effect.promise(async () => {
    const attacker = await makeAttacker(server, keys);
    const neighbour = await makeNeighbour(server.url, keys);
    const { close, ...tools } = makeTools(server.url, attacker, size);
    const { port } = new URL(server.url);
    await neighbour.measure(longer);

    const attempt = async (name: string, attack: Attack, milliseconds: number): Promise<Measured> => {
      try {
        const before = await neighbour.measure(milliseconds);
        const [latencies, statuses] = await attack(milliseconds);
        const beside = operations.map((operation) => Math.round(p99(latencies[operation])));
        return { name, statuses, ratios: ratiosOf(before, latencies), beside };
      } catch (error) {
        const { message, cause } = error as Error;
        return {
          name,
          statuses: `${message} ${cause instanceof Error ? cause.message : ""}`,
          ratios: [Infinity],
          beside: [],
        };
      }
    };

    const beside = async (name: string, attack: Attack) => {
      const quick = await attempt(name, attack, usual);
      const found = isTooSlow(quick) ? await attempt(name, attack, longer) : quick;
      console.log(storage, JSON.stringify(found));
      return found;
    };

    const measured: Array<Measured> = [];
    for (const [name, row] of Object.entries(routeRows)) {
      if (!isChosen(name)) continue;
      const request = rawOf(requestOf(name, row, attacker));
      const attack: Attack = async (milliseconds) => {
        const flooding = await flood({ port: Number(port), addresses, connections, request, depth: 1 });
        const [measuring] = await Promise.allSettled([neighbour.measure(milliseconds)]);
        const statuses = JSON.stringify(Object.fromEntries(await flooding.stop()));
        if (measuring.status === "rejected") throw new Error(statuses, { cause: measuring.reason });
        return [measuring.value, statuses];
      };
      measured.push(await beside(name, attack));
    }
    for (const [name, work] of Object.entries(works)) {
      if (!isChosen(name)) continue;
      const attack: Attack = async (milliseconds) => {
        const began = performance.now();
        const [latencies] = await Promise.all([neighbour.measure(milliseconds), work(tools)]);
        return [latencies, `${Math.round(performance.now() - began)} ms`];
      };
      measured.push(await beside(name, attack));
    }
    neighbour.close();
    close();
    return measured;
  });
});

testLive.each(storageNames)("the neighbour of an attacker goes on, on %s", function* (storage) {
  const measured = yield* Effect.scoped(measure(storage));
  expect(measured.filter(isTooSlow)).toEqual([]);
});

/**
 * Load test: addresses without a key flood the server while a key looks up links. The proof measures both; elsewhere the
 * floods only have to be answered as documented. `neighbours_test.ts` has the attacks of accounts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isProof } from "@accountlink/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { type RunningServer, startServer, startServerHere } from "../support/server.ts";
import { flood } from "./flooding.ts";

const fixtures = makeFixtures();
const key = fixtures.key({ account: "other", kind: "staff", limits: "none", links: { "100001": "1" } });

/** How often lookups are measured without an attack and during it, and for how many milliseconds each. */
const [turns, duration] = isProof ? [5, 3_000] : [1, 500];

const proxy = "127.0.3.1";

let server: RunningServer;
beforeAll(async () => {
  const start = isProof ? startServer : startServerHere;
  server = await start({
    fixture: fixtures.fixture,
    env: {
      ACCOUNTLINK_TRUSTED_PROXIES: `${proxy}/32`,
      ACCOUNTLINK_IP_PER_SECOND: "20",
      ACCOUNTLINK_IP_PAGES_PER_SECOND: "60",
      ACCOUNTLINK_IP_AUTH_FAILURES: "30",
    },
  });
  if (isProof) await lookUpFor(duration);
});
afterAll(async () => expect(await server.stop()).toBe(0));

const lookUpFor = async (milliseconds: number): Promise<ReadonlyArray<number>> => {
  const latencies: Array<number> = [];
  const end = performance.now() + milliseconds;
  const lookUp = async () => {
    while (performance.now() < end) {
      const asked = performance.now();
      const { status } = await server.send("GET /v2/chat?chatId=100001", { key });
      latencies.push(performance.now() - asked);
      expect(status).toBe(200);
      await sleep(5);
    }
  };
  await Promise.all(Array.from({ length: 4 }, lookUp));
  return latencies;
};

const p99 = (latencies: ReadonlyArray<number>) =>
  latencies.toSorted((one, other) => one - other)[Math.floor(0.99 * latencies.length)] ?? Infinity;

/**
 * Compares the lookups during an attack with those without it, in turns, since the machine may be busy at any time.
 * Other work on it can only make a turn slower, so the quieter half of the turns counts.
 */
const measure = async (name: string, most: number, attack: () => Promise<() => Promise<void>>) => {
  const before: Array<number> = [];
  const during: Array<number> = [];
  for (let turn = 0; turn < turns; turn++) {
    if (isProof) before.push(p99(await lookUpFor(duration)));
    const stop = await attack();
    during.push(p99(await lookUpFor(duration)));
    await stop();
  }
  const [without, beside] = [before, during].map(
    (each) => each.toSorted((one, other) => one - other)[Math.floor((turns - 1) / 2)] ?? Infinity,
  ) as [number, number];
  if (!isProof) return;
  console.log({ name, before, during, ratio: beside / without });
  expect(beside).toBeLessThan(most * without);
};

/** Counts the lines of the log about requests. */
const lines = () =>
  server.output().match(/"(?:Request answered|Requests refused before their key was read)"/g)?.length ?? 0;

const request = (path: string, header = "") => `GET ${path} HTTP/1.1\r\nHost: a\r\n${header}\r\n`;

test("behind a trusted proxy, a flood leaves lookups answered, and writes a line a second for the client", async () => {
  const client = "198.51.100.1";
  await measure("an unknown path behind a proxy", 20, async () => {
    const linesBefore = lines();
    const began = performance.now();
    const attack = await flood({
      port: Number(new URL(server.url).port),
      addresses: [proxy],
      connections: 32,
      requests: [request("/nothing/at/all", `X-Forwarded-For: ${client}\r\n`)],
      depth: 100,
    });
    return async () => {
      const statuses = await attack.stop();
      const seconds = Math.ceil((performance.now() - began) / 1_000) + 1;
      expect([...statuses.keys()].toSorted()).toEqual(["404", "429"]);
      expect(statuses.get("404")).toBeLessThanOrEqual(20 * (seconds + 1));
      expect(lines() - linesBefore).toBeLessThanOrEqual(seconds + 1);
    };
  });
});

/** Outside of the proof, the first flood suffices: contract tests hold the limits of the others. */
const floods: ReadonlyArray<readonly [name: string, addresses: number, sent: string]> = [
  ["an unknown path", 1, request("/nothing/at/all")],
  ["no key", 1, request("/v2/chat?chatId=100001")],
  ["a wrong key", 1, request("/v2/chat?chatId=100001", "Authorization: Bearer wrong\r\n")],
  ["a health check", 1, request("/healthz")],
  ["an unknown path", 64, request("/nothing/at/all")],
];

test.each(isProof ? floods : floods.slice(0, 1))(
  "a flood of requests with %s from %d addresses leaves lookups at most five times as slow",
  async (name, count, sent) => {
    await measure(`${name} from ${count}`, 5, async () => {
      const linesBefore = lines();
      const began = performance.now();
      const attack = await flood({
        port: Number(new URL(server.url).port),
        addresses: Array.from({ length: count }, (_, index) => `127.0.1.${index + 1}`),
        connections: Math.max(32, count),
        requests: [sent],
        depth: 100,
      });
      return async () => {
        const statuses = await attack.stop();
        const seconds = Math.ceil((performance.now() - began) / 1_000) + 1;
        const answers = [...statuses.values()].reduce((sum, each) => sum + each, 0);
        // Each address gets 40 answers a second, and each connection its first one.
        expect(answers).toBeLessThanOrEqual(count * 40 * seconds + Math.max(32, count));
        expect(lines() - linesBefore).toBeLessThanOrEqual(count * (seconds + 1));
        expect(["200", "401", "404", "429"]).toEqual(expect.arrayContaining([...statuses.keys()]));
      };
    });
  },
);

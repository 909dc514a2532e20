/** What clients meet that are there before the server. */
import { spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  freePort,
  isProof,
  makePostgresDatabase,
  redisUrl,
  whyNoPostgresDatabase,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { patience } from "../support/patience.ts";
import { startServer } from "../support/server.ts";
import { connectAllTheTime } from "./opening_clients.ts";

const main = fileURLToPath(new URL("../../apps/server/main.ts", import.meta.url));

const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedisUrl());
const scope = Scope.makeUnsafe();
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-opening-"));
});
afterAll(() => rm(folder, { recursive: true }));

const sharedStores = Effect.gen(function* () {
  const { url } = yield* makePostgresDatabase();
  return {
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: url,
    ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: yield* redisUrl,
    ACCOUNTLINK_REDIS_PREFIX: `opening-${process.pid}:`,
  };
});

const storages = [
  { storage: "embedded", nodes: 1, why: null, env: () => Promise.resolve({}) },
  {
    storage: "Postgres and Redis",
    nodes: 2,
    why: missing,
    env: () => Effect.runPromise(Scope.provide(sharedStores, scope)),
  },
];

/** Of each node: the first is on an empty storage, the others follow a stop while clients go on. */
const starts = isProof ? 10 : 2;

/** After each start, so that the first answers are among many. */
const answersOfEach = 100;

describe.each(storages)(
  "Clients that connect from before the start, $storage",
  ({ storage, nodes, why, env }) => {
    test.skipIf(why !== null)("are all answered, at each start and restart", async () => {
      const shared = await env();
      const ports = await Promise.all(Array.from({ length: nodes }, freePort));
      const clients = ports.map(connectAllTheTime);
      const start = (index: number) =>
        startServer({
          fixture: {},
          dataFolder: join(folder, `${storage} ${index}`),
          env: { ...shared, ACCOUNTLINK_PORT: String(ports[index]) },
        });

      const running = await Promise.all(ports.map((_, index) => start(index)));
      for (let round = 0; round < starts; round++) {
        for (const [index, client] of clients.entries()) {
          const before = client.answered();
          await vi.waitFor(() => expect(client.answered() - before).toBeGreaterThan(answersOfEach), patience);
          const { stop } = running[index] as (typeof running)[number];
          if (round === starts - 1) continue;
          expect(await stop()).toBe(0);
          running[index] = await start(index);
        }
      }
      for (const client of clients) {
        const { statuses, open } = await client.stop(patience.timeout);
        // 503 while it stops.
        expect(Object.keys(statuses).filter((status) => status !== "200" && status !== "503")).toEqual([]);
        expect(statuses["200"]).toBeGreaterThan(starts * answersOfEach);
        expect(open).toBe(0);
      }
      for (const { stop } of running) expect(await stop()).toBe(0);
    });
  },
);

describe("SIGTERM while a server starts, with clients that wait for it", () => {
  const delays = isProof ? [0, 5, 10, 20, 30, 40, 50] : [0, 50];

  const spawnServer = (port: number, env: Readonly<Record<string, string>> = {}) => {
    const child = spawn(process.execPath, [main, "serve"], {
      env: {
        ACCOUNTLINK_PORT: String(port),
        ACCOUNTLINK_STORAGE: "embedded",
        ACCOUNTLINK_DATA_DIR: join(folder, randomUUID()),
        ACCOUNTLINK_PLATFORM: "dev",
        ...env,
      },
      stdio: "ignore",
    });
    const ended = (once(child, "exit") as Promise<[number | null]>).then(([code]) => code);
    return { ended, stop: () => child.kill("SIGTERM") };
  };

  test.each(delays)("ends it with 0, %i ms after its port has opened", async (delay) => {
    const port = await freePort();
    const clients = connectAllTheTime(port);
    const { ended, stop } = spawnServer(port);
    await vi.waitFor(() => expect(clients.answered()).toBeGreaterThan(0), { ...patience, interval: 1 });
    await sleep(delay);
    stop();
    const signalled = performance.now();
    expect(await ended).toBe(0);
    expect(performance.now() - signalled).toBeLessThan(isProof ? 2_000 : patience.timeout);
    expect((await clients.stop(patience.timeout)).open).toBe(0);
  });

  /** Sends the signal as soon as the program listens for it, which is before its modules are loaded. */
  const signalAtOnce = `process.once("newListener", function wait(event) {
    if (event !== "SIGTERM") return process.once("newListener", wait);
    setImmediate(() => process.kill(process.pid, "SIGTERM"));
  });`;

  test("ends it with 0 while its modules load", async () => {
    const preload = `--import=data:text/javascript,${encodeURIComponent(signalAtOnce)}`;
    expect(await spawnServer(await freePort(), { NODE_OPTIONS: preload }).ended).toBe(0);
  });
});

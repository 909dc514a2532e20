/** Whatever comes over connections, nothing of it stays when they are gone. */
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Held } from "../load/heap_probe.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { connectTo, eventually, openSockets } from "../support/raw_http.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { type Pipeline, pipelines } from "./random_pipelines.ts";

const probe = join(import.meta.dirname, "../load/heap_probe.ts");
const atOnce = 50;

const fixtures = makeFixtures();
const key = fixtures.key({ links: { 100001: "1" } });

/** Plays a pipeline until its connection has ended. */
const play = async (url: string, { bytes, leaves }: Pipeline): Promise<void> => {
  const socket = await connectTo(url);
  socket.write(bytes);
  const ended = new Promise((resolve) => socket.once("close", resolve));
  // The other end answers all that it can, or has a deadline.
  socket.resume().on("end", () => socket.destroy());
  if (leaves) socket.destroy();
  await ended;
};

const playAll = async (url: string, drawn: ReadonlyArray<Pipeline>): Promise<void> => {
  const left = [...drawn];
  const worker = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await play(url, next);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

/** What the server holds once its connections are gone. */
const heldBy = async ({ pid, output }: ServerProcess): Promise<Held> => {
  const printed = () => output().match(/^held .+$/gm) ?? [];
  const seen = printed().length;
  process.kill(pid, "SIGUSR2");
  expect(await eventually(() => Promise.resolve(printed().length > seen))).toBe(true);
  return JSON.parse((printed().at(-1) ?? "").slice("held ".length)) as Held;
};

test("12,000 random requests and 6,000 random pipelines leave nothing behind", async () => {
  const server = await startServer({
    fixture: fixtures.fixture,
    env: {
      NODE_OPTIONS: `--import=${probe}`,
      ACCOUNTLINK_HEADER_TIMEOUT: "500 millis",
      ACCOUNTLINK_REQUEST_TIMEOUT: "500 millis",
      ACCOUNTLINK_IDLE_TIMEOUT: "250 millis",
      ACCOUNTLINK_LOG_LEVEL: "error",
    },
  });
  const sockets = await openSockets(server.pid);
  const areGone = () => eventually(async () => (await openSockets(server.pid)) <= sockets);
  const seed = Math.floor(Math.random() * 2 ** 31);
  console.log(`seed ${seed}`);
  // What is made once, such as compiled code and the metrics of each answer, is made before the first look.
  await playAll(server.url, fc.sample(pipelines(key, 6), { numRuns: 3_000, seed: seed + 2 }));
  expect(await areGone()).toBe(true);
  const before = await heldBy(server);

  await playAll(server.url, fc.sample(pipelines(key, 1), { numRuns: 12_000, seed }));
  await playAll(server.url, fc.sample(pipelines(key, 6), { numRuns: 6_000, seed: seed + 1 }));

  expect(await areGone()).toBe(true);
  const after = await heldBy(server);
  console.log(
    `heap ${(before.heap / 1e6).toFixed(1)} MB, then ${(after.heap / 1e6).toFixed(1)} MB; fibers ${before.fibers}, then ${after.fibers}`,
  );
  expect(after.handles).toEqual(before.handles);
  expect(after.fibers).toBeLessThanOrEqual(before.fibers);
  expect(after.heap).toBeLessThan(before.heap + 5e6);
  expect(server.output()).not.toMatch(/"level":"(?:ERROR|FATAL)"|Warning/);
  expect(await server.stop()).toBe(0);
});

/** What a restart leaves of the limits. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { startServerHere } from "../support/server.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-day-"));
});
afterAll(() => rm(folder, { recursive: true }));

const fixtures = makeFixtures();
const key = fixtures.key({ limits: { perWindow: 0, windowMs: 1_000, daily: 5, verifyDaily: 5 } });

/** Starts a server on the folder, asks so often, stops it, and gives the statuses. */
const statusesOf = async (requests: number): Promise<ReadonlyArray<number>> => {
  const server = await startServerHere({ fixture: fixtures.fixture, dataFolder: folder });
  const statuses: Array<number> = [];
  for (let i = 0; i < requests; i++) {
    statuses.push((await server.send("GET /v2/chat?chatId=100001", { key })).status);
  }
  expect(await server.stop()).toBe(0);
  return statuses;
};

test("a restart does not reopen the day", async () => {
  const before = await statusesOf(3);
  expect(before).not.toContain(429);
  const after = await statusesOf(3);
  expect(after.map((status) => status === 429)).toEqual([false, false, true]);
});

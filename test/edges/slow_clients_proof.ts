/**
 * Clients that are slow on purpose, as slowhttptest plays them: the server stays small and quick, and is free of them
 * a minute later.
 */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { runSlowhttptest, whyNoSlowhttptest } from "@accountlink/test-servers";
import { describe, expect, test } from "vitest";
import { eventually, openSockets } from "../support/raw_http.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";

const connections = 2_000;
/** How long each attack lasts, in seconds. */
const duration = 60;
const largest = 500_000_000;
const slowest = 100;

const missing = await whyNoSlowhttptest();

const attacks: ReadonlyArray<readonly [name: string, path: string, args: ReadonlyArray<string>]> = [
  ["slow headers", "/v2/chat", ["-H", "-i", "5"]],
  ["slow body", "/v2/keys/leaked", ["-B", "-i", "5", "-s", "60000", "-f", "application/json"]],
  ["slow read", "/docs", ["-X", "-k", "10", "-n", "5", "-w", "512", "-y", "1024", "-z", "32"]],
  [
    "slow read of the page's script",
    "/docs/scalar.js",
    ["-X", "-k", "10", "-n", "5", "-w", "512", "-y", "1024", "-z", "32"],
  ],
  ["range", "/docs/scalar.js", ["-R", "-a", "5", "-b", "3000"]],
];

/** What an honest client sees while `attack` runs. */
const watch = async ({ pid, send }: ServerProcess, key: string, attack: Promise<void>) => {
  const over = new AbortController();
  const ended = attack.finally(() => over.abort());
  // It is looked at below; until then nobody is to be told.
  ended.catch(() => {});
  const times: Array<number> = [];
  const statuses = new Set<number>();
  let memory = 0;
  while (!over.signal.aborted) {
    const startedAt = performance.now();
    statuses.add((await send("GET /v2/chat?chatId=100001", { key })).status);
    times.push(performance.now() - startedAt);
    memory = Math.max(memory, await residentMemory(pid));
    await sleep(50);
  }
  await ended;
  const sorted = times.toSorted((one, other) => one - other);
  return { statuses: [...statuses], memory, p99: sorted[Math.floor(sorted.length * 0.99)] ?? Infinity };
};

const residentMemory = async (pid: number): Promise<number> => {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
};

describe.skipIf(missing !== null)(`Slow clients${missing === null ? "" : ` (${missing})`}`, () => {
  test.each(attacks)("%s at %s", async (name, path, args) => {
    const world = makeWorld();
    const key = world.key({ links: { 100001: "1" } });
    const server = await startServer({ fixture: world.fixture });
    await server.send("GET /v2/chat?chatId=100001", { key });
    const before = await openSockets(server.pid);
    const common = ["-c", String(connections), "-r", "500", "-l", String(duration), "-u", server.url + path];
    const { memory, p99, statuses } = await watch(server, key, runSlowhttptest([...args, ...common]));
    const freedFrom = performance.now();
    const isFreed = await eventually(async () => (await openSockets(server.pid)) <= before, 60_000);
    const freedAfter = Math.round((performance.now() - freedFrom) / 1_000);
    console.log(
      `${name}: ${Math.round(memory / 1e6)} MB, honest requests ${p99.toFixed(1)} ms at the 99th percentile, freed after ${freedAfter} s`,
    );
    expect(await server.stop()).toBe(0);
    expect({ statuses, isFreed }).toEqual({ statuses: [200], isFreed: true });
    expect(memory).toBeLessThan(largest);
    expect(p99).toBeLessThan(slowest);
  });
});

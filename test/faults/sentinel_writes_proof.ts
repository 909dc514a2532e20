/** With data in a Redis behind sentinels, every write is answered within its deadline, whatever a failover leaves. */
import { storageAt } from "@accountlink/server/test_command_line";
import { startRedisSentinel, whyNoRedis } from "@accountlink/test-servers";
import { testLive } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { expect } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { serverInScope } from "../support/server.ts";

const missing = await whyNoRedis();
const deadline = 5_000;

testLive.skipIf(missing !== null)(
  `writes are answered after a failover that leaves no replica ${missing ?? ""}`,
  function* () {
    const { url, master, failover } = yield* startRedisSentinel({ sentinels: 3 });
    const fixtures = makeFixtures();
    const key = fixtures.key();
    const server = yield* serverInScope({
      fixture: fixtures.fixture,
      env: {
        ...storageAt(url),
        ACCOUNTLINK_CACHE: "redis",
        ACCOUNTLINK_REDIS_URL: url,
      },
    });
    const answers: Array<{ readonly status: number; readonly took: number; readonly at: number }> = [];
    const run = { isOver: false };
    const write = async (n: number) => {
      for (let round = 0; !run.isOver; round++) {
        const at = performance.now();
        const { status } = await server.send("PATCH /v2/game", {
          key,
          headers: { "idempotency-key": `${n}-${round}` },
          body: { chatId: `${100_001 + (n % 5)}`, gameId: `${(round % 4) + 1}` },
        });
        answers.push({ status, took: performance.now() - at, at });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const writers = Array.from({ length: 16 }, (_, n) => write(n));
    yield* Effect.sleep("2 seconds");
    const killed = performance.now();
    yield* master.kill;
    yield* failover;
    yield* Effect.sleep("10 seconds");
    run.isOver = true;
    yield* Effect.promise(() => Promise.all(writers));
    const counts: Record<string, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    const late = answers.filter(({ took }) => took > deadline);
    const longest = Math.max(...answers.map(({ took }) => took));
    console.log({
      counts,
      late: late.length,
      longest,
      afterKill: answers.filter(({ at }) => at > killed).length,
    });
    expect(late).toEqual([]);
    expect(Object.keys(counts).every((status) => status === "200" || status === "503")).toBe(true);
    expect(counts["503"]).toBeGreaterThan(0);
  },
);

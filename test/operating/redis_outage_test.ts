/** An outage of Redis while nobody asks for anything that needs it. */
import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { Effect } from "effect";
import { describe, expect, it, vi } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { patience } from "../support/patience.ts";
import { type RunningServer, startServerHere } from "../support/server.ts";

const missing = await whyNoRedis();

const startOn = (redisUrl: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      startServerHere({
        fixture: makeFixtures().fixture,
        env: { ACCOUNTLINK_CACHE: "redis", ACCOUNTLINK_REDIS_URL: redisUrl },
      }),
    ),
    (server) => Effect.promise(() => server.stop()),
  );

const whatIsTold = async ({ send }: RunningServer) => {
  const { status, body } = await send("GET /readyz");
  const { text } = await send("GET /metrics");
  return { status, body, up: /^accountlink_redis_up (\d)$/m.exec(text)?.[1] };
};

const deployment = expect.any(String) as string;
const well = { status: 200, body: { status: "ready", deployment }, up: "1" };
const lost = { status: 200, body: { status: "ready", degraded: ["redis"], deployment }, up: "0" };

const untilTold = (server: RunningServer, expected: typeof well) =>
  Effect.promise(() => vi.waitFor(async () => expect(await whatIsTold(server)).toEqual(expected), patience));

const outage = Effect.fnUntraced(function* (breakage: "kill" | "freeze") {
  const redis = yield* startRedis();
  const server = yield* startOn(redis.url);
  yield* untilTold(server, well);
  yield* redis[breakage];
  yield* untilTold(server, lost);
  yield* breakage === "kill" ? redis.restart : redis.thaw;
  yield* untilTold(server, well);
  return server.output().match(/Redis (cannot be reached|is reachable again)/g);
});

describe.skipIf(missing !== null)(`an outage of Redis ${missing ?? "that no request notices"}`, () => {
  it.each(["kill", "freeze"] as const)(
    "is in /readyz, in the metrics and once in the log: %s",
    async (how) => {
      const lines = await Effect.runPromise(Effect.scoped(outage(how)));
      // A machine without time for Redis makes outages of its own, each with one line more at its begin and its end.
      const outages = (lines?.length ?? 0) / 2;
      expect(outages).toBeGreaterThanOrEqual(1);
      const told = ["Redis cannot be reached", "Redis is reachable again"];
      expect(lines).toEqual(Array.from({ length: outages }, () => told).flat());
    },
  );
});

/** What the log says while the stores are down and requests go on coming, and what it says of Redis' own warnings. */
import { randomBytes } from "node:crypto";
import { startPostgres, startRedis } from "@accountlink/test-servers";
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { whyNoService } from "../faults/service.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { startServerHere } from "../support/server.ts";

const missing = await whyNoService();

interface Line {
  readonly message: string;
  readonly level: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly repeated?: number;
}

const wrongKeys = 300;

describe.skipIf(missing !== null)(`the log ${missing ?? ""}`, () => {
  it("has one line a second of a failure, with their number, and nothing else than lines of its own", () =>
    Effect.gen(function* () {
      const postgres = yield* startPostgres();
      const redis = yield* startRedis();
      const server = yield* Effect.promise(() =>
        startServerHere({
          fixture: makeFixtures().fixture,
          env: {
            ACCOUNTLINK_STORAGE: "postgres",
            ACCOUNTLINK_DATABASE_URL: postgres.urlOf("postgres"),
            ACCOUNTLINK_CACHE: "redis",
            ACCOUNTLINK_REDIS_URL: redis.url.replace("//", "//:unneeded@"),
            ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
          },
        }),
      );
      yield* postgres.kill;
      const started = performance.now();
      const statuses = yield* Effect.promise(() =>
        Promise.all(
          Array.from({ length: wrongKeys }, (_, i) =>
            server.send("GET /v2/chat?chatId=100001", {
              key: `alk_${String(i).padStart(12, "0")}_${randomBytes(32).toString("base64url")}`,
            }),
          ),
        ),
      );
      expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([503]));
      const seconds = Math.ceil((performance.now() - started) / 1_000);
      expect(yield* Effect.promise(server.stop)).toBe(0);

      const printed = server.output().trim().split("\n");
      const lines = printed
        .filter((line) => !line.startsWith("listening on "))
        .map((line) => JSON.parse(line) as Line);
      const failures = lines.filter(({ message }) => message === "Request failed");
      const kinds = new Set(failures.map(({ annotations: { cause } }) => cause));
      expect(failures.reduce((sum, { repeated = 1 }) => sum + repeated, 0)).toBe(wrongKeys);
      expect(failures.length).toBeLessThanOrEqual(kinds.size * (seconds + 2));
      expect(kinds.size).toBeLessThan(5);
      expect(lines.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/^This Redis server's `default` user does not require a password/),
      );
    }).pipe(Effect.scoped, Effect.runPromise));
});

/**
 * A release and the one after it, at work on the same Postgres and Redis.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  makePostgresDatabase,
  redisUrl,
  whyNoPostgresDatabase,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServer } from "../support/server.ts";
import { chatUsers, makeWorld } from "../support/world.ts";
import { makeNextRelease } from "./next_release.ts";

const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedisUrl());

const scope = Scope.makeUnsafe();
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-next-"));
});
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void));
  await rm(folder, { recursive: true });
});

describe.skipIf(missing !== null)(`two releases at once ${missing ?? ""}`, () => {
  it("serve and write beside each other, and no request fails while the schema changes", async () => {
    const { url, query } = await Effect.runPromise(Scope.provide(makePostgresDatabase(), scope));
    const world = makeWorld();
    const chatIds = chatUsers.map(({ id }) => id);
    const key = world.key({ links: Object.fromEntries(chatIds.map((chatId) => [chatId, "1"])) });
    const options = {
      fixture: world.fixture,
      env: {
        ACCOUNTLINK_STORAGE: "postgres",
        ACCOUNTLINK_DATABASE_URL: url,
        ACCOUNTLINK_CACHE: "redis",
        ACCOUNTLINK_REDIS_URL: await Effect.runPromise(Scope.provide(redisUrl, scope)),
        ACCOUNTLINK_REDIS_PREFIX: `test-${randomBytes(8).toString("hex")}:`,
        ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
      },
    };
    const program = await makeNextRelease(folder);
    const set = async ({ send }: RunningServer, chatId: string, gameId: string) =>
      (await send("PATCH /v2/game", { key, body: { chatId, gameId } })).status;
    const gameOf = async ({ send }: RunningServer, chatId: string) =>
      (await send(`GET /v2/chat?chatId=${chatId}`, { key })).body["data"]?.["gameId"];

    const old = await startServer(options);
    const started = new AbortController();
    const traffic = (async () => {
      const statuses: Array<number> = [];
      for (let i = 0; !started.signal.aborted; i++) {
        const [chatId = "", gameId] = [chatIds[i % chatIds.length], String((i % 9) + 1)];
        statuses.push(await set(old, chatId, gameId));
        expect(await gameOf(old, chatId)).toBe(gameId);
      }
      return statuses;
    })();
    const next = await startServer({ ...options, program }).finally(() => started.abort());
    const statuses = await traffic;
    expect(statuses.length).toBeGreaterThan(20);
    expect(new Set(statuses)).toEqual(new Set([200]));

    const version = await Effect.runPromise(
      query("SELECT max(migration_id)::int AS version FROM schema_migrations"),
    );
    expect(version).toEqual([{ version: 999 }]);
    for (const [i, chatId] of chatIds.slice(0, 12).entries()) {
      const [one, other] = i % 2 === 0 ? [old, next] : [next, old];
      const gameId = String((i % 8) + 2);
      expect(await set(one, chatId, gameId)).toBe(200);
      expect(await gameOf(other, chatId)).toBe(gameId);
    }

    await expect(startServer(options)).rejects.toThrow(/schema is version 999, expected \d+ or lower/);

    expect(await old.stop()).toBe(0);
    expect(await gameOf(next, "100001")).toBe("2");
    expect(await next.stop()).toBe(0);
  });
});

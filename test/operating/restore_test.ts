/** The backup of docs/operating.md for Postgres: made beside a server at work, and restored into an empty database. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import {
  makePostgresDatabase,
  redisUrl,
  startPostgres,
  whyNoPostgresWithTools,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { blocksOf, readDocument } from "../docs/document.ts";
import { runShell } from "../docs/shell.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { textOf } from "../support/http.ts";
import { patience } from "../support/patience.ts";
import { startServerHere } from "../support/server.ts";

const missing = whyNoPostgresWithTools();

const commandWith = (part: string): string => {
  const blocks = blocksOf(readDocument("docs/operating.md")).filter(({ text }) => text.includes(part));
  expect(blocks, `blocks with "${part}"`).toHaveLength(1);
  return blocks[0]?.text ?? "";
};

/** What a start with another secret than that of its database says. */
const [, refusal = ""] = commandWith("Cannot start: ACCOUNTLINK_SECRET").trim().split("\n");

/** How a message names a database. */
const nameOf = (url: string): string => `${new URL(url).host}${new URL(url).pathname}`;

const scope = Scope.makeUnsafe();
let cwd = "";
let postgres: Effect.Success<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  if (missing !== null) return;
  postgres = await Effect.runPromise(Scope.provide(startPostgres({ tools: true }), scope));
  cwd = await mkdtemp(join(tmpdir(), "accountlink-restore-"));
});
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void));
  await rm(cwd, { recursive: true });
});

const makeDatabase = () => Effect.runPromise(Scope.provide(makePostgresDatabase(postgres), scope));
const type = (command: string, url: string) =>
  runShell(command, {
    cwd,
    env: {
      PATH: `${postgres.programs}${delimiter}${process.env["PATH"] ?? ""}`,
      ACCOUNTLINK_DATABASE_URL: url,
    },
  });

describe.skipIf(missing !== null)(`docs/operating.md ${missing ?? ""}`, () => {
  it("makes a backup of Postgres beside a running server, from which another one serves", async () => {
    const fixtures = makeFixtures();
    const account = "acme";
    const key = fixtures.key({ account, links: { 100001: "1", 100002: "1" } });
    const guildKey = fixtures.key({ account, guildId: "700000000000000001", tier: "premium" });
    const secret = randomBytes(32).toString("base64");
    const env = (url: string, ACCOUNTLINK_SECRET = secret) => ({
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: url,
      ACCOUNTLINK_SECRET,
    });
    const gameOf = async ({ send }: Pick<typeof running, "send">, chatId: string) =>
      (await send(`GET /v2/chat?chatId=${chatId}`, { key })).body["data"]?.["gameId"];

    const before = await makeDatabase();
    const running = await startServerHere({ fixture: fixtures.fixture, env: env(before.url) });
    const set = (chatId: string, gameId: string) =>
      running.send("PATCH /v2/game", { key, body: { chatId, gameId } });
    expect((await set("100001", "2")).status).toBe(200);
    await type(commandWith("pg_dump"), before.url);
    expect((await stat(join(cwd, "accountlink.dump"))).mode & 0o777).toBe(0o600);
    expect((await set("100002", "3")).status).toBe(200);
    const rowsOf = async (database: typeof before, table: string) => {
      const rows = await Effect.runPromise(database.query(`SELECT * FROM ${table} ORDER BY 1, 2`));
      // The server notes uses of a key also after the backup.
      return rows.map(({ last_used_at: _, ...row }) => row);
    };
    await running.stop();

    const after = await makeDatabase();
    await type(commandWith("pg_restore"), after.url);
    for (const table of ["accounts", "scopes", "keys", "key_secrets"]) {
      expect(await rowsOf(after, table)).toEqual(await rowsOf(before, table));
    }

    const fixture = { platform: fixtures.fixture.platform };
    const restored = await startServerHere({ fixture, env: env(after.url) });
    expect(await gameOf(restored, "100001")).toBe("2");
    // Written after the backup: it is what a restore loses.
    expect(await gameOf(restored, "100002")).toBe("1");
    const inGuild = await restored.send("GET /v2/game?gameId=2&guildId=700000000000000001", {
      key: guildKey,
    });
    expect(inGuild.status).toBe(404);
    expect(
      (await restored.send("PATCH /v2/game", { key, body: { chatId: "100003", gameId: "3" } })).status,
    ).toBe(200);
    await restored.stop();

    await expect(
      startServerHere({ fixture, env: env(after.url, randomBytes(32).toString("base64")) }),
    ).rejects.toThrow(refusal.replace("10.0.0.9:5432/accountlink", nameOf(after.url)));
  });
});

const noRedis = await whyNoRedisUrl();

describe.skipIf(missing !== null || noRedis !== null)(
  `a copy of a database, served beside it ${missing ?? noRedis ?? ""}`,
  () => {
    it("shares nothing with it, on the same Redis with the same secret", async () => {
      const fixtures = makeFixtures();
      const key = fixtures.key({ tier: "premium", links: { 100001: "1" } });
      const few = fixtures.key({ limits: { perWindow: 0, windowMs: 0, daily: 3, verifyDaily: 3 } });
      const common = {
        ACCOUNTLINK_STORAGE: "postgres",
        ACCOUNTLINK_CACHE: "redis",
        ACCOUNTLINK_REDIS_URL: await Effect.runPromise(Scope.provide(redisUrl, scope)),
        ACCOUNTLINK_REDIS_PREFIX: `test-${randomBytes(8).toString("hex")}:`,
        ACCOUNTLINK_SECRET: randomBytes(32).toString("base64"),
      };
      const start = (fixture: object, { url }: { readonly url: string }) =>
        startServerHere({ fixture, env: { ...common, ACCOUNTLINK_DATABASE_URL: url } });

      const [before, after] = [await makeDatabase(), await makeDatabase()];
      const original = await start(fixtures.fixture, before);
      const created = await original.send("POST /v2/sessions", { key, body: { clientId: "c" } });
      const sid = textOf(created.body.data?.sid);
      await type(commandWith("pg_dump"), before.url);
      await type(commandWith("pg_restore"), after.url);
      // Another platform, so that it shows which of them an answer is from.
      const platform = {
        ...fixtures.fixture.platform,
        chatUsers: [{ id: "100001", username: "copy", displayName: "Copy" }],
      };
      const copy = await start({ platform }, after);
      const both = [original, copy];

      for (const { send } of both) {
        const statuses = [];
        for (let i = 0; i < 4; i++)
          statuses.push((await send("GET /v2/chat?chatId=100002", { key: few })).status);
        expect(statuses).toEqual([404, 404, 404, 429]);
      }

      const names = [];
      for (const { send } of both) {
        const { body } = await send("GET /v2/chat?chatId=100001&resolved=true", { key });
        names.push(body.data?.resolved?.chat?.displayName);
      }
      expect(names).toEqual(["User 1", "Copy"]);

      const reads = [];
      for (const { send } of both) {
        reads.push(send(`GET /v2/sessions/${sid}?wait=25`, { key }));
        await vi.waitFor(
          async () =>
            expect((await send("GET /metrics")).text).toMatch(/^accountlink_session_reads_open 1$/m),
          patience,
        );
      }
      for (const { send } of both) {
        expect((await send(`DELETE /v2/sessions/${sid}`, { key })).status).toBe(200);
      }
      // A read that another one took the place of would say "pending".
      expect((await Promise.all(reads)).map(({ body }) => body.data?.state)).toEqual([
        "cancelled",
        "cancelled",
      ]);

      expect((await original.send("POST /v2/keys/leaked", { body: { key } })).status).toBe(200);
      expect((await original.send("GET /v2/chat?chatId=100001", { key })).status).toBe(401);
      expect((await copy.send("GET /v2/chat?chatId=100001", { key })).status).toBe(200);
      for (const { stop } of both) await stop();
    });
  },
);

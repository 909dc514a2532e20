/**
 * A release and the one after it, at work on the same Postgres and Redis. The one after it is this checkout, copied, with
 * one step more in its schema.
 */
import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

const missing = (await whyNoPostgresDatabase()) ?? (await whyNoRedisUrl());

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What a step may do beside the nodes of the release before: it adds, and nothing that has to be filled in. */
const step = `
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
export const ofTomorrow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql\`ALTER TABLE links ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'\`;
  yield* sql\`CREATE INDEX links_by_colour ON links (pid, colour)\`;
  yield* sql\`CREATE TABLE colours (name TEXT NOT NULL PRIMARY KEY)\`;
});
`;

/** Copies this checkout into the folder, adds the step, and gives the path of its `main.ts`. */
const makeNextRelease = async (folder: string): Promise<string> => {
  for (const part of ["packages", "apps"]) {
    await cp(join(root, part), join(folder, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith(".cache"),
    });
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await cp(join(root, "package.json"), join(folder, "package.json"));
  const storage = join(folder, "packages/storage-sql");
  await writeFile(join(storage, "migrations/0999_of_tomorrow.ts"), step);
  const steps = await readFile(join(storage, "migrations.ts"), "utf8");
  const more = steps.replace(/("\d{4}_\w+": \w+,\n)(\};)/, '$1  "0999_of_tomorrow": ofTomorrow,\n$2');
  expect(more).not.toBe(steps);
  await writeFile(
    join(storage, "migrations.ts"),
    `import { ofTomorrow } from "./migrations/0999_of_tomorrow.ts";\n${more}`,
  );
  return join(folder, "apps/server/main.ts");
};

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

/** Backups of Postgres: made beside a running server, restored into an empty database. */
import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { runInProcess, storageAt } from "@accountlink/server/test_command_line";
import {
  makePostgresDatabase,
  runUntil,
  startPostgres,
  whyNoPostgresWithTools,
} from "@accountlink/test-servers";
import type { Effect } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blocksOf, readDocument } from "../docs/document.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { textOf } from "../support/http.ts";
import { startServerHere } from "../support/server.ts";

const missing = whyNoPostgresWithTools();

const commandWith = (part: string): string => {
  const blocks = blocksOf(readDocument("docs/operating.md")).filter(({ text }) => text.includes(part));
  expect(blocks, `blocks with "${part}"`).toHaveLength(1);
  return blocks[0]?.text ?? "";
};

/** The documented message of a server that refuses to start because the database was made with another secret. */
const [, refusal = ""] = commandWith("Cannot start: ACCOUNTLINK_SECRET").trim().split("\n");

/** Returns the name of a database as server messages show it, such as `10.0.0.9:5432/accountlink`. */
const nameOf = (url: string): string => `${new URL(url).host}${new URL(url).pathname}`;

const run = runUntil(afterAll);
const cwd = useFolder();
let postgres: Effect.Success<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  if (missing === null) postgres = await run(startPostgres({ tools: true }));
});

const makeDatabase = () => run(makePostgresDatabase(postgres));

describe.skipIf(missing !== null)(`docs/operating.md ${missing ?? ""}`, () => {
  it("backup copies a Postgres beside its server, restore fills an empty one, and a server starts on it", async () => {
    const fixtures = makeFixtures();
    const account = "acme";
    const key = fixtures.key({ account, links: { 100001: "1", 100002: "1" } });
    const guildKey = fixtures.key({ account, guildId: "700000000000000001", tier: "premium" });
    const secret = randomBytes(32).toString("base64");
    const env = (url: string, by = secret) => storageAt(url, by);
    const gameOf = async ({ send }: Pick<typeof running, "send">, chatId: string) =>
      (await send(`GET /v2/chat?chatId=${chatId}`, { key })).body["data"]?.["gameId"];

    const accountlink = async (url: string, words: ReadonlyArray<string>, by = secret) => {
      const PATH = `${postgres.programs}${delimiter}${process.env["PATH"] ?? ""}`;
      const { stdout } = await runInProcess([...words, "--json"], { ...env(url, by), PATH });
      return JSON.parse(stdout) as Record<string, unknown>;
    };

    const before = await makeDatabase();
    const running = await startServerHere({ fixture: fixtures.fixture, env: env(before.url) });
    const set = (chatId: string, gameId: string) =>
      running.send("PATCH /v2/game", { key, body: { chatId, gameId } });
    expect((await set("100001", "2")).status).toBe(200);
    const endOfFeed = async () =>
      textOf((await running.send("GET /v2/events", { key })).body["data"]?.["cursor"]);
    const kept = await endOfFeed();
    const { file, tables } = await accountlink(before.url, ["backup", cwd]);
    expect(tables).toMatchObject({ links: 2, accounts: 1, root_key: 1 });
    expect((await stat(String(file))).mode & 0o777).toBe(0o600);
    expect((await set("100002", "3")).status).toBe(200);
    const lost = await endOfFeed();
    const rowsOf = async (database: typeof before, table: string) => {
      const rows = await run(database.query(`SELECT * FROM ${table} ORDER BY 1, 2`));
      // Leave out the time of a key's last use, because the server still updates it after the backup.
      return rows.map(({ last_used_at: _, ...row }) => row);
    };
    await running.stop();

    const after = await makeDatabase();
    const whole = await readFile(String(file));
    const half = join(cwd, "half.dump");
    await writeFile(half, whole.subarray(0, whole.length / 2));
    const restore = (url: string, from: unknown, by?: string) =>
      accountlink(url, ["restore", String(from)], by);
    expect(await restore(after.url, half)).toEqual({ error: expect.stringContaining("Cannot use") });
    const foreign = randomBytes(32).toString("base64");
    expect(await restore(after.url, file, foreign)).toEqual({ error: expect.stringContaining("SECRET") });
    expect(await run(after.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'"))).toEqual([]);
    expect(await restore(after.url, file)).toMatchObject({ secret: "fits", tables });
    expect(await restore(after.url, file)).toEqual({ error: expect.stringContaining("it holds data") });
    // What a restore keeps is in no later backup, which can be restored over it in turn.
    for (const from of [file, null]) {
      const latest = from ?? (await accountlink(after.url, ["backup", cwd]))["file"];
      const replaced = await accountlink(after.url, ["restore", "--replace", String(latest)]);
      expect(replaced).toMatchObject({ kept: expect.stringMatching(/^schema accountlink_\d{8}T/) });
      expect(replaced).toMatchObject({ tables: { links: 2, accounts: 1, root_key: 1 } });
    }

    // A restore is cut off after it set the data aside.
    const aside = "accountlink_99991231T235959999Z";
    await run(after.query(`ALTER SCHEMA public RENAME TO "${aside}"`));
    await run(after.query("CREATE SCHEMA public"));
    await expect(startServerHere({ fixture: {}, env: env(after.url) })).rejects.toThrow(aside);
    for (const words of [["migrate"], ["keys", "list"], ["backup", cwd]]) {
      expect(await accountlink(after.url, words)).toEqual({ error: expect.stringContaining(aside) });
    }
    const doctor = await runInProcess(["doctor"], { ...env(after.url), ACCOUNTLINK_PLATFORM: "none" });
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(`fail +database +.*${aside}`) });
    expect(doctor.stdout).not.toContain("will be made");
    expect(await run(after.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'"))).toEqual([]);
    expect(await restore(after.url, file)).toMatchObject({ kept: `schema ${aside}`, tables });

    for (const table of ["accounts", "scopes", "keys", "key_secrets"]) {
      expect(await rowsOf(after, table)).toEqual(await rowsOf(before, table));
    }

    const fixture = { platform: fixtures.fixture.platform };
    const restored = await startServerHere({ fixture, env: env(after.url) });
    expect(await gameOf(restored, "100001")).toBe("2");
    // A restore loses writes made after the backup.
    expect(await gameOf(restored, "100002")).toBe("1");
    const inGuild = await restored.send("GET /v2/game?gameId=2&guildId=700000000000000001", {
      key: guildKey,
    });
    expect(inGuild.status).toBe(404);
    expect(
      (await restored.send("PATCH /v2/game", { key, body: { chatId: "100003", gameId: "3" } })).status,
    ).toBe(200);
    // The lost event and the new one are the first after the backup.
    const eventsAfter = (cursor: string) => restored.send(`GET /v2/events?cursor=${cursor}`, { key });
    const { events } = (await eventsAfter(kept)).body["data"] ?? {};
    expect(events).toMatchObject([{ data: { chatId: "100003" } }]);
    expect((await eventsAfter(lost)).status).toBe(409);
    await restored.stop();

    await expect(
      startServerHere({ fixture, env: env(after.url, randomBytes(32).toString("base64")) }),
    ).rejects.toThrow(refusal.replace("10.0.0.9:5432/accountlink", nameOf(after.url)));
  });
});

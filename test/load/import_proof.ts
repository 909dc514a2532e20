/**
 * 100,000 links through the command line, in and out again, beside a running server.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { chatIdOf, linkCount, shuffled } from "../../bench/fixture.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";
import { start } from "./start_program.ts";

const header = "chatId,gameId,lastVerifiedAt\n";
const bulkSize = 50;

interface Link {
  readonly chatId: string;
  readonly gameId: string;
  readonly at: number;
}

/** Every tenth game user is linked twice, and newer by the second chat user. */
const distinctGames = (linkCount / 10) * 9;
const links: ReadonlyArray<Link> = Array.from({ length: linkCount }, (_, index) => ({
  chatId: chatIdOf(index),
  gameId: String(1 + (index % distinctGames)),
  at: Date.UTC(2025, 0, 1) + index * 1_009,
}));

const csvLine = ({ chatId, gameId, at }: Link) => `${chatId},${gameId},${new Date(at).toISOString()}\n`;

const world = makeWorld();
const accounts = ["acme", "cut", "copy"] as const;
type Account = (typeof accounts)[number];
const keys = Object.fromEntries(accounts.map((account) => [account, world.key({ account })])) as Record<
  Account,
  string
>;

let folder = "";
let file = "";
let server: RunningServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-import-"));
  file = join(folder, "links.csv");
  await writeFile(file, header + shuffled(links, 1).map(csvLine).join(""));
  server = await startServer({ fixture: world.fixture, dataFolder: join(folder, "data") });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  await rm(folder, { recursive: true });
});

const command = (...args: ReadonlyArray<string>) =>
  start(["links", ...args], { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: server.dataFolder });

/** Runs a command to its end, and gives its answer and how long it took, in seconds. */
const run = async (...args: ReadonlyArray<string>) => {
  const started = performance.now();
  const { code, stdout, stderr } = await command(...args, "--json").ended;
  const seconds = (performance.now() - started) / 1_000;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  console.log(
    `links ${args[0]}: ${seconds.toFixed(1)} s, ${Math.round(linkCount / seconds)} links/s, ${stdout.trim()}`,
  );
  return JSON.parse(stdout) as Record<string, unknown>;
};

const importInto = (account: Account, ...flags: ReadonlyArray<string>) =>
  run("import", file, "--account", account, ...flags);

const exported = async (account: Account): Promise<string> => {
  const output = join(folder, `${account}.csv`);
  expect(await run("export", "--account", account, "--output", output)).toMatchObject({ links: linkCount });
  return readFile(output, "utf8");
};

/** The file as it is exported: in the order of the chat IDs, which is how `links` is made. */
const inOrder = () => header + links.map(csvLine).join("");

/** The answers to bulk lookups of all these IDs, in their order. */
const lookUp = async (account: Account, name: "chat" | "game", ids: ReadonlyArray<string>) => {
  const results: Array<unknown> = [];
  for (let first = 0; first < ids.length; first += bulkSize) {
    const body = { [`${name}Ids`]: ids.slice(first, first + bulkSize) };
    const answer = await server.send(`POST /v2/${name}/bulk`, { key: keys[account], body });
    results.push(...(answer.body["data"]?.["results"] as unknown as ReadonlyArray<unknown>));
  }
  return results;
};

test("what is imported beside a running server is there at once, both ways, and exported as it came", async () => {
  expect(await importInto("acme")).toMatchObject({ links: linkCount, inserted: linkCount, leftOut: 0 });

  const resolved = { game: null, chat: null };
  const byChat = await lookUp(
    "acme",
    "chat",
    links.map(({ chatId }) => chatId),
  );
  expect(byChat).toEqual(
    links.map(({ chatId, gameId }) => ({
      input: { chatId },
      found: true,
      data: { chatId, gameId, resolved },
      error: null,
    })),
  );

  const newestFirst = Map.groupBy(links.toReversed(), ({ gameId }) => gameId);
  const byGame = await lookUp("acme", "game", [...newestFirst.keys()]);
  expect(byGame).toEqual(
    [...newestFirst].map(([gameId, linked]) => {
      const chatIds = linked.map(({ chatId }) => chatId);
      return {
        input: { gameId },
        found: true,
        data: { gameId, chatIds, count: chatIds.length, resolved },
        error: null,
      };
    }),
  );

  expect(await exported("acme")).toBe(inOrder());
});

test("the same file again changes nothing, and another one only what it says", async () => {
  expect(await importInto("acme")).toMatchObject({ doneBefore: true, inserted: 0, replaced: 0 });
  expect(await importInto("acme", "--from-start")).toMatchObject({
    unchanged: linkCount,
    inserted: 0,
    replaced: 0,
  });

  const moved = links.map((link, index) => (index % 2 === 0 ? link : { ...link, gameId: `9${link.gameId}` }));
  await writeFile(file, header + shuffled(moved, 2).map(csvLine).join(""));
  expect(await importInto("acme", "--on-conflict", "replace")).toMatchObject({
    replaced: linkCount / 2,
    unchanged: linkCount / 2,
    inserted: 0,
  });
  expect(await exported("acme")).toBe(header + moved.map(csvLine).join(""));
  await writeFile(file, header + shuffled(links, 1).map(csvLine).join(""));
});

test("an import that is killed goes on where it was", async () => {
  const database = new DatabaseSync(join(server.dataFolder, "accountlink.db"), { readOnly: true });
  const stored = database.prepare(`
    SELECT COUNT(*) AS count FROM links JOIN scopes ON scopes.pid = links.pid WHERE scopes.account = 'cut'`);
  const { child, ended } = command("import", file, "--account", "cut");
  await vi.waitFor(() => expect(stored.get()?.["count"]).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 1,
  });
  child.kill("SIGKILL");
  await ended;
  const before = Number(stored.get()?.["count"]);
  database.close();
  expect(before).toBeLessThan(linkCount);

  const outcome = await importInto("cut");
  expect(outcome).toMatchObject({ inserted: linkCount - before, kept: 0, resumedAfter: before });
  expect(await exported("cut")).toBe(inOrder());
});

test("what is exported as NDJSON is imported as it was", async () => {
  const output = join(folder, "links.ndjson");
  await run("export", "--account", "cut", "--output", output);
  expect(await run("import", output, "--account", "copy")).toMatchObject({ inserted: linkCount });
  expect(await exported("copy")).toBe(inOrder());
});

/** Runs the commands in docs/operating.md, docs/operators_day.md and docs/switching.md. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { startServerHere } from "../support/server.ts";
import { blocksOf, readDocument } from "./document.ts";
import { runShell } from "./shell.ts";

const operating = blocksOf(readDocument("docs/operating.md"));
const blocks = [...operating, ...blocksOf(readDocument("docs/operators_day.md"))].filter(
  ({ language }) => language === "sh",
);

const blockWith = (part: string): string => {
  const found = blocks.filter(({ text }) => text.includes(part));
  expect(found, `blocks with "${part}"`).toHaveLength(1);
  return found[0]?.text ?? "";
};

const [folder, cwd, dataFolder] = [useFolder(), useFolder(), useFolder()];

it("a server refuses a database without its secret, in the documented words, and makes no other one", async () => {
  const refusal = operating.find(({ text }) => text.startsWith("Cannot start: "))?.text.split("\n")[0] ?? "";
  await writeFile(join(folder, "accountlink.db"), "");
  const start = startServerHere({ fixture: makeFixtures().fixture, dataFolder: folder });
  await expect(start).rejects.toThrow(refusal.replace('"data"', `"${folder}"`));
  expect(await readdir(folder)).toEqual(["accountlink.db"]);
});

it("the documented commands create a first key and import links", async () => {
  const links = "chatId,gameId,lastVerifiedAt\n100001,1,2026-01-01T00:00:00.000Z\n100002,2,\n";
  await writeFile(join(cwd, "links.csv"), links);
  const printed = await runShell(blockWith("links import"), { cwd, env: { ACCOUNTLINK_PORT: "0" } });
  expect(printed).toMatch(/^alk_/);
  expect(printed).toContain("Imported 2 links");
  expect(printed).not.toMatch(/^fail/m);
});

it("five concurrent lookups succeed after the operator sets the limits of the key", async () => {
  const fixtures = makeFixtures();
  const key = fixtures.key({ guildId: guild, links: { 100001: "1" }, limits: { windowMs: 3_600_000 } });
  const server = await startServerHere({ fixture: fixtures.fixture, dataFolder });
  onTestFinished(async () => void (await server.stop()));
  const lookups = async () => {
    const line = `GET /compat/rover/api/guilds/${guild}/discord-to-roblox/100001` as const;
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.send(line, { key })));
    return answers.filter(({ status }) => status === 200).length;
  };
  expect(await lookups()).toBe(1);
  const block = blocksOf(readDocument("docs/switching.md")).find(({ text }) => text.includes("keys update"));
  const command = block?.text.replace("IqvqUdpFcaFu", key.slice(4, 16)) ?? "";
  const env = { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: dataFolder };
  expect(await runShell(command, { cwd: dataFolder, env })).toContain("Updated");
  await eventually(async () => expect(await lookups()).toBe(5));
});

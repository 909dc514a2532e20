/** Runs the commands in docs/operating.md, docs/operators_day.md and docs/switching.md. */
import { cp, rename, stat, writeFile } from "node:fs/promises";
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

/** The documented messages with which a server without the right secret refuses to start. */
const refusals =
  operating
    .find(({ text }) => text.startsWith("Cannot start: "))
    ?.text.trim()
    .split("\n") ?? [];

const blockWith = (part: string): string => {
  const found = blocks.filter(({ text }) => text.includes(part));
  expect(found, `blocks with "${part}"`).toHaveLength(1);
  return found[0]?.text ?? "";
};

const [folder, cwd, dataFolder] = [useFolder(), useFolder(), useFolder()];

it("another server can start from the documented backup of a running server", async () => {
  const fixtures = makeFixtures();
  const key = fixtures.key({ limits: "none", links: { 100001: "1" } });
  const options = { fixture: fixtures.fixture };

  const server = await startServerHere({ ...options, dataFolder: join(folder, "data") });
  const written = await server.send("PATCH /v2/game", { key, body: { chatId: "100001", gameId: "2" } });
  expect(written.status).toBe(200);
  const copied = join(folder, "backup");
  const backup = blockWith("VACUUM INTO")
    .replaceAll("/opt/accountlink/", "")
    .replaceAll("/var/lib/accountlink", join(folder, "data"))
    .replaceAll("/var/backups/accountlink", copied)
    .replaceAll("/etc/cron.daily", folder)
    .replaceAll("~/", `${folder}/`);
  const made = join(copied, (await runShell(backup, { cwd: folder, env: {} })).trim());
  await server.stop();
  const [database, secret] = [join(copied, "accountlink.db"), join(folder, "accountlink.secret")];
  await rename(made, database);
  for (const file of [database, secret]) expect((await stat(file)).mode & 0o777).toBe(0o600);

  const start = () => startServerHere({ ...options, dataFolder: copied });
  const [withoutSecret = ""] = refusals;
  await expect(start()).rejects.toThrow(withoutSecret.replace('"data"', `"${copied}"`));
  await cp(secret, join(copied, "secret"));
  const restored = await start();
  const found = await restored.send("GET /v2/chat?chatId=100001", { key });
  await restored.stop();
  expect(found.body["data"]).toMatchObject({ chatId: "100001", gameId: "2" });
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

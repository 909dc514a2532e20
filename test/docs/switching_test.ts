/** Runs the command in docs/switching.md that sets the limits of a key. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { startServerHere } from "../support/server.ts";
import { blocksOf, readDocument } from "./document.ts";
import { runShell } from "./shell.ts";

it("five concurrent lookups succeed after the operator sets the limits of the key", async () => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-switching-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const fixtures = makeFixtures();
  const key = fixtures.key({ guildId: guild, links: { 100001: "1" }, limits: { windowMs: 3_600_000 } });
  const server = await startServerHere({ fixture: fixtures.fixture, dataFolder: folder });
  onTestFinished(async () => void (await server.stop()));
  const lookups = async () => {
    const line = `GET /compat/rover/api/guilds/${guild}/discord-to-roblox/100001` as const;
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.send(line, { key })));
    return answers.filter(({ status }) => status === 200).length;
  };
  expect(await lookups()).toBe(1);

  const block = blocksOf(readDocument("docs/switching.md")).find(({ text }) => text.includes("keys update"));
  const command = block?.text.replace("IqvqUdpFcaFu", key.slice(4, 16)) ?? "";
  const env = { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: folder };
  expect(await runShell(command, { cwd: folder, env })).toContain("Updated");
  await vi.waitFor(async () => expect(await lookups()).toBe(5), 10_000);
});

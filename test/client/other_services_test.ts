/** Clients written for other services, with only the base URL and key changed. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { useServer } from "../support/server.ts";
import { playExperience, startProgram } from "./program.ts";

const fixtures = makeFixtures();
const links = { 100001: "1", 100002: { gameId: "1", at: "2026-02-01T00:00:00.000Z" } };
const limits = { perWindow: 100, windowMs: 60_000, daily: 100 };
const guildKey = fixtures.key({ guildId: guild, links, limits });
const globalKey = fixtures.key({ links });
const server = useServer(() => ({ fixture: fixtures.fixture }));

const program = (name: string) => fileURLToPath(new URL(`other_services/${name}`, import.meta.url));

const linesOf = async (
  command: readonly [string, ...ReadonlyArray<string>],
  env: Readonly<NodeJS.ProcessEnv>,
): Promise<ReadonlyArray<string>> => {
  const { PATH, HOME } = process.env;
  const running = startProgram(command, import.meta.dirname, { PATH, HOME, ...env });
  expect(await running.ended).toBe(0);
  return running.output().trim().split("\n");
};

interface BloxlinkSdk {
  bloxlinkBaseUrl: string;
  readonly initialise: (key: string) => void;
  readonly SearchDiscordToRoblox: (discordId: string, guildId?: string) => Promise<unknown>;
  readonly SearchRobloxToDiscord: (robloxId: string, guildId?: string) => Promise<unknown>;
}

test("bloxlink-sdk works with Bloxlink v3 routes", async () => {
  const sdk = createRequire(import.meta.url)("bloxlink-sdk") as BloxlinkSdk;
  sdk.bloxlinkBaseUrl = `${server.url()}/compat/bloxlink/`;
  sdk.initialise(guildKey);
  expect(await sdk.SearchDiscordToRoblox("100001", guild)).toEqual({
    success: true,
    user: { robloxId: "1", primaryAccount: "1" },
  });
  expect(await sdk.SearchRobloxToDiscord("1", guild)).toEqual({
    success: true,
    user: { discordIds: ["100002", "100001"] },
  });
  await expect(sdk.SearchDiscordToRoblox("100009", guild)).rejects.toMatchObject({
    response: { status: 404, data: { success: false, error: "The specified user is not verified." } },
  });
  sdk.initialise(globalKey);
  expect(await sdk.SearchDiscordToRoblox("100001")).toMatchObject({ user: { robloxId: "1" } });
});

test("a JavaScript bot for Bloxlink v4 works", async () => {
  const env = { BLOXLINK_URL: `${server.url()}/compat/bloxlink`, BLOXLINK_KEY: guildKey, GUILD_ID: guild };
  expect(await linesOf([process.execPath, program("bloxlink_bot.js")], env)).toEqual([
    "1",
    "100002,100001",
    "User not found",
  ]);
});

const hasRequests = (() => {
  try {
    execFileSync("python3", ["-c", "import requests"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

// Skip the test if Python or its package `requests` is not installed.
test.skipIf(!hasRequests)("a Python bot for RoVer works", async () => {
  const env = { ROVER_URL: `${server.url()}/compat/rover/api`, ROVER_KEY: guildKey, GUILD_ID: guild };
  expect(await linesOf(["python3", program("rover_bot.py")], env)).toEqual([
    "1 player_1",
    "100002,100001",
    "user_not_found",
  ]);
});

test("a Luau game for RoWifi works", async () => {
  const variables = { ROWIFI_URL: `${server.url()}/compat/rowifi`, ROWIFI_KEY: guildKey, GUILD_ID: guild };
  const script = [
    ...Object.entries(variables).map(([name, value]) => `local ${name} = "${value}"`),
    readFileSync(program("rowifi_game.luau"), "utf8"),
  ].join("\n");
  const game = playExperience({ script });
  expect(await game.ended).toBe(0);
  const printed = game
    .output()
    .split("\n")
    .filter((line) => !/^(request .*|end|)$/.test(line));
  expect(printed).toEqual(["1", "User not found"]);
});

/** The client of another service, with only the base URL and key changed. */
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { useServer } from "../support/server.ts";

const fixtures = makeFixtures();
const links = { 100001: "1", 100002: { gameId: "1", at: "2026-02-01T00:00:00.000Z" } };
const limits = { perWindow: 100, windowMs: 60_000, daily: 100 };
const guildKey = fixtures.key({ guildId: guild, links, limits });
const globalKey = fixtures.key({ links });
const server = useServer(() => ({ fixture: fixtures.fixture }));

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

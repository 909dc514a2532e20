import { expect, it } from "vitest";
import { aFixture } from "./complete_fixture.ts";
import { aGuild, aMember } from "./platform.ts";

const guildId = "700000000000000001";

it("aFixture adds the accounts, users and guilds that its links and sightings refer to", () => {
  const { accounts, platform } = aFixture({
    links: [
      { chatId: "100001", gameId: "1" },
      { account: "other", scope: "guild", guildId, chatId: "100002", gameId: "2" },
    ],
    sightings: [{ chatId: "100003", ip: "203.0.113.7" }],
  });
  expect(accounts.map(({ name }) => name)).toEqual(["acme", "other"]);
  expect(platform.guilds).toEqual([aGuild(guildId, ["100002"])]);
  expect(platform.chatUsers.map(({ id }) => id)).toEqual(["100001", "100002", "100003"]);
  expect(platform.gameUsers.map(({ id }) => id)).toEqual(["1", "2"]);
});

it("aFixture keeps guilds and keys that a test sets", () => {
  const guild = aGuild(guildId, [aMember("100001", { manager: true })], { bot: false });
  const { platform, keys } = aFixture({
    keys: [{ key: `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`, access: "read" }],
    links: [{ scope: "guild", guildId, chatId: "100001", gameId: "1" }],
    platform: { guilds: [guild] },
  });
  expect(platform.guilds).toEqual([guild]);
  expect(keys).toMatchObject([{ account: "acme", scope: "global", access: "read", status: "active" }]);
});

it("aFixture throws for an invalid value, and names its field and the expected values", () => {
  expect(() => aFixture({ links: [{ chatId: "ada", gameId: "1" }] })).toThrow(
    'links[0].chatId is "ada", expected 5 to 32 digits',
  );
});

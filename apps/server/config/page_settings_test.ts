import { ChatId, GameId, GuildId } from "@accountlink/core";
import { expect, it } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { readConfig } from "./config.ts";
import { pageSettingsOf } from "./page_settings.ts";

const settingsOf = (environment: Record<string, string>) =>
  Effect.runSync(Effect.map(readConfig(environment), pageSettingsOf));

it("user pages have the live platforms' names, and a link back to the chat platform", () => {
  const live = { ACCOUNTLINK_PLATFORM: "live", ACCOUNTLINK_CHAT_CLIENT_ID: "42" };
  const { chatHome, chatPage, gamePage, ...settings } = settingsOf(live);
  expect(settings).toEqual({ chatName: "Discord", gameName: "Roblox", privacyUrl: null, contact: null });
  expect(chatHome?.(GuildId.make("700000000000000001"))).toBe(
    "https://discord.com/channels/700000000000000001",
  );
  expect(chatPage?.(ChatId.make("100001"))).toBe("https://discord.com/users/100001");
  expect(gamePage?.(GameId.make("1"))).toBe("https://www.roblox.com/users/1/profile");
  expect(chatHome?.(null)).toBe("https://discord.com/channels/@me");
});

it("user pages have generic platform names on the dev platform, and no link back to a platform", () => {
  const { chatName, gameName, chatHome } = settingsOf({ ACCOUNTLINK_STORAGE: "memory" });
  expect([chatName, gameName, chatHome]).toEqual(["the chat platform", "the game platform", null]);
});

it("user pages of the demo have the names of the live platforms, but no link back to a platform", () => {
  const { chatName, gameName, chatHome } = settingsOf({});
  expect([chatName, gameName, chatHome]).toEqual(["Discord", "Roblox", null]);
});

it("user pages have the operator's own names, privacy policy and contact", () => {
  const own = settingsOf({
    ACCOUNTLINK_CHAT_NAME: "Guilded",
    ACCOUNTLINK_GAME_NAME: "Minecraft",
    ACCOUNTLINK_PRIVACY_URL: "https://links.example/privacy?lang=en#addresses",
    ACCOUNTLINK_CONTACT: "help@links.example",
  });
  expect(own).toEqual({
    chatName: "Guilded",
    gameName: "Minecraft",
    chatHome: null,
    chatPage: null,
    gamePage: null,
    privacyUrl: "https://links.example/privacy?lang=en#addresses",
    contact: "help@links.example",
  });
});

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

it.each([{}, { ACCOUNTLINK_STORAGE: "memory" }])(
  "user pages of the demo and of the dev platform have no link back to a platform",
  (environment) => {
    expect(settingsOf(environment)).toMatchObject({ chatHome: null, chatPage: null, gamePage: null });
  },
);

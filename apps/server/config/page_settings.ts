import type { PageSettingsShape } from "@accountlink/pages";
import type { ChatSettingsShape } from "@accountlink/pages/chat";
import { liveChatHome, liveChatPage, liveGamePage, livePlatformNames } from "@accountlink/platforms/live";
import type { Config } from "./config.ts";
import { isDemo } from "./resolved_config.ts";

const devPlatformNames = { chat: "the chat platform", game: "the game platform" };

export const pageSettingsOf = (config: Config): PageSettingsShape => {
  const isLive = config.ACCOUNTLINK_PLATFORM === "live";
  const names = isLive || isDemo(config) ? livePlatformNames : devPlatformNames;
  return {
    chatName: config.ACCOUNTLINK_CHAT_NAME ?? names.chat,
    gameName: config.ACCOUNTLINK_GAME_NAME ?? names.game,
    chatHome: isLive ? liveChatHome : null,
    chatPage: isLive ? liveChatPage : null,
    gamePage: isLive && config.ACCOUNTLINK_GAME_URL === null ? liveGamePage : null,
    privacyUrl: config.ACCOUNTLINK_PRIVACY_URL,
    contact: config.ACCOUNTLINK_CONTACT,
    ...(config.ACCOUNTLINK_PLATFORM === "none" && { withoutSignIns: true }),
  };
};

export const chatSettingsOf = (config: Config): ChatSettingsShape => ({
  isOn: config.ACCOUNTLINK_CHAT_COMMANDS === "on",
  publicKey: config.ACCOUNTLINK_CHAT_PUBLIC_KEY,
  commandsPerMinute: config.ACCOUNTLINK_CHAT_COMMANDS_PER_MINUTE,
});

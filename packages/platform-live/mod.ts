/**
 * The live platforms behind the ports of `@accountlink/core`: Discord is the chat platform, Roblox the game platform.
 *
 * `liveChatPlatform` and `liveGamePlatform` answer questions about guilds, members and users; wrap them in the cached
 * platforms of `@accountlink/platform-http`. `liveChatIdentity` and `liveGameIdentity` are the sign-ins.
 * `inspectLiveChatPlatform` and `inspectLiveGamePlatform` tell whether the platforms answer. What has to be set up at
 * them is in `docs/platforms.md`.
 */
export * from "./chat_identity.ts";
export * from "./chat_platform.ts";
export * from "./for_users.ts";
export * from "./game_identity.ts";
export * from "./game_platform.ts";
export * from "./inspect.ts";

/**
 * The live platforms behind the ports of `@accountlink/core`: Discord is the chat platform, Roblox the game platform,
 * or a game of one's own over HTTP.
 *
 * `liveChatPlatform` and `liveGamePlatform` look up guilds, members and users; wrap them in the cached platforms of
 * `@accountlink/platforms/http`. `liveChatIdentity` and `liveGameIdentity` are the sign-ins. `docs/platforms.md` says
 * how to register an application with each platform.
 *
 * @example
 * ```ts
 * import { Layer, Redacted } from "effect";
 *
 * const [secret, publicUrl] = [Redacted.make("secret"), "https://link.example"];
 * const chat = liveChatPlatform({ botToken: secret, publicUrl });
 * const ofRoblox = liveGameIdentity({ clientId: "1", clientSecret: secret });
 * const game = httpGamePlatform({ url: "https://game.example", token: secret });
 * const issuer = "https://login.example";
 * const ofGame = httpGameIdentity({ issuer, clientId: "1", clientSecret: secret });
 * [chat, ofRoblox, game, ofGame].every(Layer.isLayer); // true
 * ```
 */

export { answers, type RefusedInWords } from "./answers.ts";
export { liveChatInstallation } from "./discord/chat_commands.ts";
export * from "./discord/chat_identity.ts";
export * from "./discord/chat_platform.ts";
export type { LiveChatPlatformOptions } from "./discord/discord_client.ts";
export * from "./game_http/game_identity.ts";
export { type HttpGameOptions, httpGamePlatform } from "./game_http/game_platform.ts";
export * from "./game_http/inspect_game.ts";
export * from "./inspect.ts";
export * from "./presentation.ts";
export * from "./roblox/game_identity.ts";
export * from "./roblox/game_platform.ts";

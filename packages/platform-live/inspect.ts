/**
 * Looking at the live platforms without using them.
 */
import { GameId, GamePlatform, type PlatformUnavailable } from "@accountlink/core";
import { findResource } from "@accountlink/platform-http";
import { Effect, Option, Schema } from "effect";
import type { HttpClient } from "effect/http";
import type { LiveChatPlatformOptions } from "./chat_platform.ts";
import { type LiveGamePlatformOptions, liveGamePlatform } from "./game_platform.ts";
import { discordClient } from "./internal/discord_client.ts";
import { User } from "./internal/discord_wire.ts";

/** Asks Discord whose the token is, and gives the name of the bot. */
export const inspectLiveChatPlatform = (
  options: LiveChatPlatformOptions,
): Effect.Effect<string, PlatformUnavailable, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const bot = yield* findResource(yield* discordClient(options), {
      operation: "ChatPlatform.inspect",
      url: "/users/@me",
      found: User,
      isAsked: () => true,
      absent: Schema.Never,
    });
    return Option.getOrThrow(bot).username;
  }).pipe(Effect.scoped);

/** Asks Roblox of a user, whoever that is. */
export const inspectLiveGamePlatform = (
  options: LiveGamePlatformOptions = {},
): Effect.Effect<void, PlatformUnavailable, HttpClient.HttpClient> =>
  Effect.flatMap(GamePlatform, (game) => game.hasUser(GameId.make("1"))).pipe(
    Effect.asVoid,
    Effect.provide(liveGamePlatform(options)),
  );

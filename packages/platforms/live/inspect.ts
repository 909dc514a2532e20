/** Checks the live platforms for the doctor, without changing anything. */
import { GameId, GamePlatform, type PlatformUnavailable } from "@accountlink/core";
import { Effect, Option, Schema } from "effect";
import type { HttpClient } from "effect/http";
import { findResource } from "../http/mod.ts";
import { discordClients, type LiveChatPlatformOptions } from "./discord/discord_client.ts";
import { User } from "./discord/discord_wire.ts";
import { type LiveGamePlatformOptions, liveGamePlatform } from "./roblox/game_platform.ts";

/**
 * Returns the name of the bot that the token belongs to. Fails if Discord refuses the token.
 *
 * @example
 * ```ts
 * import { Effect, Redacted } from "effect";
 * import { HttpClient, HttpClientResponse } from "effect/http";
 *
 * // In place of `FetchHttpClient.layer`, and of Discord and Roblox.
 * const refusing = HttpClient.make((request) =>
 *   Effect.succeed(HttpClientResponse.fromWeb(request, new Response("{}", { status: 401 }))),
 * );
 * const bot = { botToken: Redacted.make("wrong"), publicUrl: "https://links.example" };
 * const checks = [inspectLiveChatPlatform(bot), inspectLiveGamePlatform()].map((check) =>
 *   Effect.map(Effect.flip(check), ({ operation }) => operation),
 * );
 * const found = Effect.provideService(Effect.all(checks), HttpClient.HttpClient, refusing);
 * await Effect.runPromise(found); // ["ChatPlatform.inspect", "GamePlatform.hasUser"]
 * ```
 */
export const inspectLiveChatPlatform = (
  options: LiveChatPlatformOptions,
): Effect.Effect<string, PlatformUnavailable, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const bot = yield* findResource((yield* discordClients(options)).client, {
      operation: "ChatPlatform.inspect",
      url: "/users/@me",
      found: User,
      absent: Schema.Never,
    });
    return Option.getOrThrow(bot).username;
  }).pipe(Effect.scoped);

/** Fails unless Roblox answers a user lookup. */
export const inspectLiveGamePlatform = (
  options: LiveGamePlatformOptions = {},
): Effect.Effect<void, PlatformUnavailable, HttpClient.HttpClient> =>
  Effect.flatMap(GamePlatform, (game) => game.hasUser(GameId.make("1"))).pipe(
    Effect.asVoid,
    Effect.provide(liveGamePlatform(options)),
  );

/** Checks the live platforms for the doctor, without changing anything. */
import { GameId, GamePlatform, type PlatformUnavailable } from "@accountlink/core";
import type { IdentityProvider } from "@accountlink/core/platforms";
import { Clock, Effect, type Redacted, Result } from "effect";
import { HttpClient } from "effect/http";
import { ask } from "./answers.ts";
import { findApplication } from "./discord/chat_commands.ts";
import { discordClients, type LiveChatPlatformOptions } from "./discord/discord_client.ts";
import { User } from "./discord/discord_wire.ts";
import { type LiveGamePlatformOptions, liveGamePlatform } from "./roblox/game_platform.ts";
import { makeOpenCloud } from "./roblox/open_cloud.ts";
import { robloxApi, robloxClient } from "./roblox/roblox_api.ts";

/**
 * Returns the name of the bot that the token belongs to, and how far Discord's clock is ahead of this machine's, in
 * milliseconds; null if it does not tell. Fails if Discord refuses the token. @internal
 */
export const inspectLiveChatPlatform = (
  options: LiveChatPlatformOptions,
): Effect.Effect<
  { readonly bot: string; readonly clockLead: number | null },
  PlatformUnavailable,
  HttpClient.HttpClient
> =>
  Effect.gen(function* () {
    const { client } = yield* discordClients(options);
    let clockLead: number | null = null;
    const timed = HttpClient.tap(client, ({ headers }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const time = Date.parse(headers["date"] ?? "");
        // The header has whole seconds.
        clockLead = Number.isNaN(time) ? null : time + 500 - now;
      }),
    );
    const bot = yield* ask(timed, "GET /users/@me", { operation: "ChatPlatform.inspect", found: User });
    return { bot: Result.getOrThrow(bot).username, clockLead };
  }).pipe(Effect.scoped);

/** The flags of an application with the intent "server members": of a verified bot, and of a small one. */
const serverMembers = (1 << 14) | (1 << 15);

/** Returns the ID of the bot's application, and whether Discord may report joins to the bot. @internal */
export const inspectLiveApplication = (
  options: LiveChatPlatformOptions,
): Effect.Effect<
  { readonly id: string; readonly reportsJoins: boolean },
  PlatformUnavailable,
  HttpClient.HttpClient
> =>
  Effect.flatMap(discordClients(options), ({ client }) => findApplication(client)).pipe(
    Effect.map(({ id, flags = 0 }) => ({ id, reportsJoins: (flags & serverMembers) !== 0 })),
    Effect.scoped,
  );

/** Whether a platform refuses the client ID or the secret of its sign-in: it is asked with a code that it never gave. @internal */
export const isClientRefused = <UserId, R>(
  identity: Effect.Effect<IdentityProvider<UserId>, never, R>,
  redirectUri: string,
): Effect.Effect<boolean, never, R> =>
  Effect.gen(function* () {
    const state = "accountlink-doctor-asks-with-no-code-at-all";
    const signIn = { redirectUri, state, codeVerifier: state, nonce: state, guildId: null };
    const callback = new URLSearchParams({ code: state, state });
    const refusal = yield* Effect.flip((yield* identity).finish(signIn, callback));
    return (
      refusal._tag === "PlatformUnavailable" &&
      typeof refusal.cause === "string" &&
      /invalid_client|unauthorized_client/.test(refusal.cause)
    );
  }).pipe(Effect.orElseSucceed(() => false));

/** Fails unless Roblox's legacy route answers a user lookup. @internal */
export const inspectLiveGamePlatform = (
  options: LiveGamePlatformOptions = {},
): Effect.Effect<void, PlatformUnavailable, HttpClient.HttpClient> =>
  Effect.flatMap(GamePlatform, (game) => game.hasUser(GameId.make("1"))).pipe(
    Effect.asVoid,
    Effect.provide(liveGamePlatform({ ...options, apiKey: undefined })),
  );

/** Fails unless Open Cloud takes the key and answers a user lookup. @internal */
export const inspectOpenCloud = ({
  apiUrl = robloxApi,
  apiKey,
  resilience,
}: LiveGamePlatformOptions & { readonly apiKey: Redacted.Redacted }): Effect.Effect<
  void,
  PlatformUnavailable,
  HttpClient.HttpClient
> =>
  robloxClient(apiUrl).pipe(
    Effect.flatMap((http) => makeOpenCloud(http, apiKey, resilience)),
    Effect.flatMap((cloud) => cloud.findUser("GamePlatform.inspect", GameId.make("1"))),
    Effect.asVoid,
    Effect.scoped,
  );

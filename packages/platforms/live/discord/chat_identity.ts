import { ChatId, ChatIdentity, GameId } from "@accountlink/core";
import type { UserGuild } from "@accountlink/core/platforms";
import { Effect, Layer, type Redacted, Result, Schema } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { identityProvider } from "../../http/mod.ts";
import { ask } from "../answers.ts";
import { discordApi, type LiveChatPlatformOptions, userAgent } from "./discord_client.ts";
import {
  type Connection,
  Connections,
  canManage,
  isSnowflake,
  Member,
  type OwnGuild,
  OwnGuilds,
} from "./discord_wire.ts";

export interface LiveChatIdentityOptions extends Omit<LiveChatPlatformOptions, "clientId" | "botToken"> {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /** The page where users sign in. */
  readonly authorizationUrl?: string | undefined;
  /** The kind of connections that are accounts of the game; `roblox` if left out. */
  readonly connection?: string | undefined;
}

/**
 * Signs chat users in at Discord, by OAuth 2.0. The application provides the HTTP client.
 *
 * The scopes are `identify`; `guilds` and `connections` for a sign-in that asks for the guilds or the connected game
 * accounts of the user; and, if a guild requested the sign-in, `guilds.members.read`. With this last scope, the user's
 * own token shows whether they are a member: without delay after they join, and without using the bot's rate limits.
 *
 * @example
 * ```ts
 * import { ChatIdentity } from "@accountlink/core";
 * import { Effect, Layer, Redacted } from "effect";
 * import { FetchHttpClient } from "effect/http";
 *
 * const publicUrl = "https://link.example";
 * const discord = liveChatIdentity({ clientId: "1", clientSecret: Redacted.make("secret"), publicUrl });
 * const begin = ChatIdentity.use((chat) =>
 *   chat.begin({
 *     redirectUri: `${publicUrl}/verify/chat/callback`,
 *     // Random for each sign-in, as the nonce.
 *     state: "state",
 *     codeVerifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
 *     nonce: "nonce",
 *     guildId: null,
 *   }),
 * );
 * const { url } = await Effect.runPromise(Effect.provide(begin, Layer.provide(discord, FetchHttpClient.layer)));
 * new URL(url).host; // "discord.com"
 * ```
 */
export const liveChatIdentity = ({
  clientId,
  clientSecret,
  publicUrl,
  apiUrl = discordApi,
  authorizationUrl = "https://discord.com/oauth2/authorize",
  connection = "roblox",
  resilience = {},
}: LiveChatIdentityOptions): Layer.Layer<ChatIdentity, never, HttpClient.HttpClient> => {
  const atDiscord = HttpClient.mapRequest(HttpClientRequest.prependUrl(apiUrl));
  return Layer.effect(
    ChatIdentity,
    identityProvider({
      platform: "chat_sign_in",
      operation: "ChatIdentity.finish",
      issuer: "https://discord.com",
      authorizationUrl,
      tokenUrl: `${apiUrl}/oauth2/token`,
      clientId,
      clientSecret,
      clientAuthentication: "post",
      scopes: ["identify"],
      proof: { kind: "userInfo", url: `${apiUrl}/users/@me` },
      userId: ChatId,
      membership: {
        scope: "guilds.members.read",
        isMember: (client, guildId, userId) =>
          isSnowflake(guildId)
            ? Effect.map(
                ask(atDiscord(client), "GET /users/@me/guilds/{guild_id}/member", {
                  operation: "ChatIdentity.finish",
                  path: [guildId],
                  found: Member,
                  matches: ({ user }) => user.id === userId,
                }),
                Result.isSuccess,
              )
            : Effect.succeed(false),
      },
      guilds: {
        scope: "guilds",
        list: (client) =>
          Effect.map(
            ask(atDiscord(client), "GET /users/@me/guilds", {
              operation: "ChatIdentity.finish",
              found: Schema.NullOr(OwnGuilds),
            }),
            (found) => (Result.getOrThrow(found) ?? []).map(userGuild),
          ),
      },
      connections: {
        scope: "connections",
        list: (client) =>
          Effect.map(
            ask(atDiscord(client), "GET /users/@me/connections", {
              operation: "ChatIdentity.finish",
              found: Schema.NullOr(Connections),
            }),
            (found) => (Result.getOrThrow(found) ?? []).flatMap(gameAccountOf(connection)),
          ),
      },
      resilience,
    }).pipe(
      Effect.provideServiceEffect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(userAgent(publicUrl))),
      ),
    ),
  );
};

/** Returns the game account of a connection of a kind, if Discord verified it and the user did not withdraw it. */
const gameAccountOf =
  (kind: string) =>
  ({ type, id, verified, revoked }: typeof Connection.Type): ReadonlyArray<GameId> => {
    const isId = kind === "roblox" ? robloxId.test(id) : isGameId(id);
    return type === kind && verified && revoked !== true && isId ? [GameId.make(id)] : [];
  };

const isGameId = Schema.is(GameId);

/** An ID of Roblox is a number of up to 63 bits, and never 0. */
const robloxId = /^[1-9]\d{0,18}$/;

const userGuild = ({ id, name, owner, permissions }: typeof OwnGuild.Type): UserGuild => ({
  id,
  name,
  manager: owner === true || canManage(permissions ?? "0"),
});

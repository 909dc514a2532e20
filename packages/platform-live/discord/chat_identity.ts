/**
 * Sign-in at Discord.
 */
import { ChatId, ChatIdentity } from "@accountlink/core";
import { findResource, identityProvider, type Resilience } from "@accountlink/platform-http";
import { Effect, Layer, Option, type Redacted } from "effect";
import { HttpClient } from "effect/http";
import { discordApi, userAgent } from "./discord_client.ts";
import { isSnowflake } from "./discord_values.ts";
import { Member, refusal } from "./discord_wire.ts";

export interface LiveChatIdentityOptions {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /** This service's public URL, which Discord wants in the user agent. */
  readonly publicUrl: string;
  /** The base URL of Discord's API, version included. */
  readonly apiUrl?: string | undefined;
  /** Where the browser is sent to sign in. */
  readonly authorizationUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/**
 * Sign-in of chat users at Discord, by OAuth 2.0. The application provides the HTTP client.
 *
 * The scopes are `identify` and, if a guild requested the sign-in, `guilds.members.read`. With the
 * latter, the user's own token tells whether they are a member: without delay after they join, and
 * without using the bot's rate limits.
 */
export const liveChatIdentity = ({
  clientId,
  clientSecret,
  publicUrl,
  apiUrl = discordApi,
  authorizationUrl = "https://discord.com/oauth2/authorize",
  resilience = {},
}: LiveChatIdentityOptions): Layer.Layer<ChatIdentity, never, HttpClient.HttpClient> =>
  Layer.effect(
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
            ? findResource(client, {
                operation: "ChatIdentity.finish",
                url: `${apiUrl}/users/@me/guilds/${guildId}/member`,
                found: Member,
                matches: ({ user }) => user.id === userId,
                absent: refusal("unknownGuild", "unknownMember"),
              }).pipe(Effect.map(Option.isSome))
            : Effect.succeed(false),
      },
      resilience,
    }).pipe(
      Effect.provideServiceEffect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(userAgent(publicUrl))),
      ),
    ),
  );

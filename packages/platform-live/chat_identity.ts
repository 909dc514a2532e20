/**
 * Sign-in at Discord.
 */
import { ChatId, ChatIdentity } from "@accountlink/core";
import { findResource, identityProvider, type Resilience } from "@accountlink/platform-http";
import { Effect, Layer, Option, type Redacted } from "effect";
import { HttpClient } from "effect/http";
import { discordApi } from "./internal/addresses.ts";
import { namingClient } from "./internal/discord_client.ts";
import { isSnowflake } from "./internal/discord_values.ts";
import { Member, refusal } from "./internal/discord_wire.ts";

export interface LiveChatIdentityOptions {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /** Where this service is reached from outside. Discord wants to know whose requests they are. */
  readonly publicUrl: string;
  /** Where Discord's API is, with its version. */
  readonly apiUrl?: string | undefined;
  /** Where the browser goes. */
  readonly authorizationUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/**
 * Discord as the platform at which chat users sign in, by OAuth 2.0. The application provides the HTTP client.
 *
 * It asks for `identify`, who the user is, and where a guild asks for `guilds.members.read`, so that the user's own token
 * tells whether they are a member: at once after they joined, and not out of the bot's budget of requests.
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
                isAsked: ({ user }) => user.id === userId,
                absent: refusal("unknownGuild", "unknownMember"),
              }).pipe(Effect.map(Option.isSome))
            : Effect.succeed(false),
      },
      resilience,
    }).pipe(
      Effect.provideServiceEffect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(namingClient(publicUrl))),
      ),
    ),
  );

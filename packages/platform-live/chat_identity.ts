/**
 * Sign-in at Discord.
 */
import { ChatId, ChatIdentity } from "@accountlink/core";
import { identityProvider, type Resilience } from "@accountlink/platform-http";
import { Layer, type Redacted } from "effect";
import type { HttpClient } from "effect/http";
import { discordApi } from "./internal/addresses.ts";

export interface LiveChatIdentityOptions {
  readonly clientId: string;
  readonly clientSecret: Redacted.Redacted;
  /** Where Discord's API is, with its version. */
  readonly apiUrl?: string | undefined;
  /** Where the browser goes. */
  readonly authorizationUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/**
 * Discord as the platform at which chat users sign in, by OAuth 2.0. The application provides the HTTP client.
 *
 * It asks for `identify` and nothing more: who the user is. Membership of guilds is the bot's to know.
 */
export const liveChatIdentity = ({
  clientId,
  clientSecret,
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
      resilience,
    }),
  );

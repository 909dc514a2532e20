/**
 * Sign-in at the chat platform, as a dev platform plays it: OAuth 2.0, and the user whom the access token stands for.
 */
import { ChatId, ChatIdentity } from "@accountlink/core";
import { identityProvider } from "@accountlink/platform-http";
import { Layer } from "effect";
import type { HttpClient } from "effect/http";
import type { DevIdentityOptions } from "./oauth_client.ts";

/** The service as a client of a dev platform's chat platform. The application provides the HTTP client. */
export const devChatIdentity = ({
  baseUrl,
  client,
  resilience = {},
}: DevIdentityOptions): Layer.Layer<ChatIdentity, never, HttpClient.HttpClient> =>
  Layer.effect(
    ChatIdentity,
    identityProvider({
      platform: "chat_sign_in",
      operation: "ChatIdentity.finish",
      issuer: `${baseUrl}/chat/oauth`,
      authorizationUrl: `${baseUrl}/chat/oauth/authorize`,
      tokenUrl: `${baseUrl}/chat/oauth/token`,
      ...client,
      clientAuthentication: "basic",
      scopes: ["identify"],
      proof: { kind: "userInfo", url: `${baseUrl}/chat/api/users/@me` },
      userId: ChatId,
      resilience,
    }),
  );

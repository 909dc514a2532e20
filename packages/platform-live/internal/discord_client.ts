/**
 * How Discord is asked: by a client that says who it is, and as the bot.
 */
import { resilientClient } from "@accountlink/platform-http";
import { Effect, flow, Redacted } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import type { LiveChatPlatformOptions } from "../chat_platform.ts";
import { discordApi } from "./addresses.ts";
import { DiscordLimits } from "./discord_limits.ts";
import { learningLimits, turnsWithin } from "./held_to_limits.ts";

/** Names the client of a request as Discord wants it. */
export const namingClient = (publicUrl: string) =>
  HttpClientRequest.setHeader("user-agent", `DiscordBot (${publicUrl}, 1)`);

export const discordClient = Effect.fnUntraced(function* ({
  botToken,
  publicUrl,
  apiUrl = discordApi,
  resilience,
}: LiveChatPlatformOptions) {
  const limits = new DiscordLimits();
  const http = learningLimits(yield* HttpClient.HttpClient, limits);
  const client = yield* resilientClient(http, "chat", resilience, yield* turnsWithin(limits));
  return HttpClient.mapRequest(
    client,
    flow(
      HttpClientRequest.prependUrl(apiUrl),
      HttpClientRequest.setHeader("authorization", `Bot ${Redacted.value(botToken)}`),
      namingClient(publicUrl),
    ),
  );
});

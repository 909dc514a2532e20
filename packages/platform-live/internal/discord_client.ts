/**
 * The client through which Discord is asked as the bot.
 */
import { resilientClient } from "@accountlink/platform-http";
import { Effect, flow, Redacted } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import type { LiveChatPlatformOptions } from "../chat_platform.ts";
import { discordApi } from "./addresses.ts";
import { DiscordLimits } from "./discord_limits.ts";
import { heldToLimits, learningLimits } from "./held_to_limits.ts";

export const discordClient = Effect.fnUntraced(function* ({
  botToken,
  publicUrl,
  apiUrl = discordApi,
  resilience,
}: LiveChatPlatformOptions) {
  const limits = new DiscordLimits();
  const http = learningLimits(yield* HttpClient.HttpClient, limits);
  const client = yield* resilientClient(http, "chat", resilience);
  return HttpClient.mapRequest(
    yield* heldToLimits(client, limits),
    flow(
      HttpClientRequest.prependUrl(apiUrl),
      HttpClientRequest.setHeaders({
        authorization: `Bot ${Redacted.value(botToken)}`,
        "user-agent": `DiscordBot (${publicUrl}, 1)`,
      }),
    ),
  );
});

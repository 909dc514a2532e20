/** Commands at a dev platform. */
import type { ChatCommands } from "@accountlink/core/platforms";
import { Effect, Option, Redacted } from "effect";
import { HttpClientRequest } from "effect/http";
import { changeResource, finderOn, type ResilientClient } from "../http/mod.ts";
import { Application, refusal } from "./wire.ts";

export const devChatCommands = (client: ResilientClient, baseUrl: string): ChatCommands => ({
  application: finderOn(client)("ChatCommands.application", "/application", Application).pipe(
    Effect.map(Option.getOrThrow),
  ),
  editAnswer: ({ applicationId, token }, message) =>
    Effect.map(
      changeResource(
        client,
        "ChatCommands.editAnswer",
        HttpClientRequest.patch(
          `/webhooks/${applicationId}/${Redacted.value(token)}/messages/@original`,
        ).pipe(HttpClientRequest.bodyJsonUnsafe(message)),
        refusal("unknown_message"),
      ),
      Option.isNone,
    ),
  tryUrl: (guildId) => `${baseUrl}/chat/guilds/${guildId}`,
});

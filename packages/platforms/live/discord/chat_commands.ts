/** Commands on Discord. */
import type { ChatCommands } from "@accountlink/core/platforms";
import { Effect, Option, Redacted } from "effect";
import { HttpClientRequest } from "effect/http";
import { changeResource, finderOn, type ResilientClient } from "../../http/mod.ts";
import { Application, refusal } from "./discord_wire.ts";

/** @param answers the client that edits answers, without the token of the bot */
export const discordCommands = (client: ResilientClient, answers: ResilientClient): ChatCommands => ({
  application: findApplication(client).pipe(
    Effect.map(({ id, verify_key: publicKey }) => ({ id, publicKey })),
  ),
  editAnswer: ({ applicationId, token }, message) =>
    Effect.map(
      changeResource(
        answers,
        "ChatCommands.editAnswer",
        HttpClientRequest.patch(
          `/webhooks/${applicationId}/${Redacted.value(token)}/messages/@original`,
        ).pipe(HttpClientRequest.bodyJsonUnsafe(message)),
        refusal("unknownMessage", "unknownWebhook"),
      ),
      Option.isNone,
    ),
});

export const findApplication = (client: ResilientClient) =>
  Effect.map(
    finderOn(client)("ChatCommands.application", "/applications/@me", Application),
    Option.getOrThrow,
  );

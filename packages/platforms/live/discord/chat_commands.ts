/** Commands on Discord: answers to commands, and the commands of the operator's application. */
import type { ChatCommands } from "@accountlink/core/platforms";
import { Effect, Option, Redacted, Schema } from "effect";
import { HttpClientRequest } from "effect/http";
import { changeResource, finderOn, type ResilientClient } from "../../http/mod.ts";
import { discordClients, type LiveChatPlatformOptions } from "./discord_client.ts";
import { Application, refusal } from "./discord_wire.ts";

/** @param answers the client that edits answers, without the token of the bot */
export const discordCommands = (client: ResilientClient, answers: ResilientClient): ChatCommands => ({
  application: findApplication(client).pipe(
    Effect.map(({ id, verify_key: publicKey }) => ({ id, publicKey })),
  ),
  editAnswer: editAnswerOn(answers, refusal("unknownMessage", "unknownWebhook")),
});

/** Edits answers to commands at Discord, or at the dev platform, which takes the same request. */
export const editAnswerOn =
  (client: ResilientClient, refused: Schema.ConstraintDecoder<unknown>): ChatCommands["editAnswer"] =>
  ({ applicationId, token }, message) => {
    const url = `/webhooks/${applicationId}/${Redacted.value(token)}/messages/@original`;
    const request = HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.patch(url), message);
    return Effect.map(changeResource(client, "ChatCommands.editAnswer", request, refused), Option.isNone);
  };

export const findApplication = (client: ResilientClient) =>
  Effect.map(
    finderOn(client)("ChatCommands.application", "/applications/@me", Application),
    Option.getOrThrow,
  );

const Localized = Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.String)));

const Named = {
  name: Schema.String,
  name_localizations: Localized,
  description: Schema.optional(Schema.String),
  description_localizations: Localized,
};

/** The fields of a command that an installation sets. */
const InstalledCommand = Schema.Struct({
  ...Named,
  type: Schema.Int,
  default_member_permissions: Schema.optional(Schema.NullOr(Schema.String)),
  contexts: Schema.optional(Schema.NullOr(Schema.Array(Schema.Int))),
  options: Schema.optional(
    Schema.Array(
      Schema.Struct({
        ...Named,
        type: Schema.Int,
        required: Schema.optional(Schema.Boolean),
        max_length: Schema.optional(Schema.Int),
      }),
    ),
  ),
});

/** Works with the application's commands and address at Discord. @internal */
export const liveChatInstallation = Effect.fnUntraced(function* (options: LiveChatPlatformOptions) {
  const { client } = yield* discordClients(options);
  const application = findApplication(client);
  const urlOf = Effect.map(application, ({ id }) => `/applications/${id}/commands`);

  return {
    application,

    /** Returns the names of commands that the application lacks, has otherwise, or has too many. */
    differences: Effect.fnUntraced(function* (wanted: ReadonlyArray<object>) {
      const url = `${yield* urlOf}?with_localizations=true`;
      const found = yield* finderOn(client)("ChatCommands.list", url, Schema.Array(InstalledCommand));
      const installed = byName(Option.getOrElse(found, () => []));
      const expected = byName(wanted.map((command) => Schema.decodeUnknownSync(InstalledCommand)(command)));
      const names = new Set([...installed.keys(), ...expected.keys()]);
      return [...names].filter((name) => installed.get(name) !== expected.get(name));
    }),

    replaceCommands: Effect.fnUntraced(function* (commands: ReadonlyArray<object>) {
      const request = HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.put(yield* urlOf), commands);
      yield* changeResource(client, "ChatCommands.replace", request, Schema.Never);
    }),

    /** Discord sends a ping to the address, and fails unless the service answers it. */
    setAddress: (url: string) =>
      Effect.asVoid(
        changeResource(
          client,
          "ChatCommands.setAddress",
          HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.patch("/applications/@me"), {
            interactions_endpoint_url: url,
          }),
          Schema.Never,
        ),
      ),
  };
});

const byName = (commands: ReadonlyArray<typeof InstalledCommand.Type>): ReadonlyMap<string, string> =>
  new Map(commands.map((command) => [command.name, comparable(command)]));

/** The JSON of a command with sorted keys. Discord leaves out empty and false values. */
const comparable = (command: unknown): string =>
  JSON.stringify(command, (_, value: unknown) => {
    if (value === null || value === false || value === "") return undefined;
    if (typeof value !== "object" || Array.isArray(value)) return value;
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  });

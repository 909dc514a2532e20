/** Commands on Discord: answers to commands, and the commands of the operator's application. */
import type { ChatCommands } from "@accountlink/core/platforms";
import { Effect, Equal, Option, Redacted, Result, Schema } from "effect";
import type { ResilientClient } from "../../http/mod.ts";
import { ask, askInWords } from "../answers.ts";
import { discordClients, type LiveChatPlatformOptions } from "./discord_client.ts";
import { Application } from "./discord_wire.ts";

/** @param answers the client that edits answers, without the token of the bot */
export const discordCommands = (client: ResilientClient, answers: ResilientClient): ChatCommands => ({
  application: findApplication(client).pipe(
    Effect.map(({ id, verify_key: publicKey }) => ({ id, publicKey })),
  ),
  editAnswer: ({ applicationId, token }, message) =>
    Effect.map(
      ask(answers, "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original", {
        operation: "ChatCommands.editAnswer",
        path: [applicationId, Redacted.value(token)],
        body: message,
        found: Schema.Unknown,
      }),
      Result.isSuccess,
    ),
});

export const findApplication = (client: ResilientClient) =>
  Effect.map(
    ask(client, "GET /applications/@me", { operation: "ChatCommands.application", found: Application }),
    Result.getOrThrow,
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
  const pathOf = Effect.map(application, ({ id }) => [id]);

  return {
    application,

    /**
     * Compares the application's commands with the wanted ones.
     *
     * @returns the wanted commands that the application lacks or has otherwise, and its other commands as Discord takes
     *   them
     */
    compare: Effect.fnUntraced(function* <Wanted extends NamedCommand>(wanted: ReadonlyArray<Wanted>) {
      const found = yield* ask(client, "GET /applications/{application_id}/commands", {
        operation: "ChatCommands.list",
        path: yield* pathOf,
        query: { with_localizations: true },
        // As a whole: an installation replaces the list, and would delete a command that is left out.
        found: Schema.NullOr(Schema.Array(Listed)),
      });
      const listed = Result.getOrThrow(found) ?? [];
      const installed = new Map(listed.map((command) => [keyOf(command), command] as const));
      const names = new Set(wanted.map(keyOf));
      return {
        differing: wanted.filter(
          (command) => !Equal.equals(installs(installed.get(keyOf(command))), installs(command)),
        ),
        foreign: listed
          .filter((command) => !names.has(keyOf(command)))
          .map(
            (command): NamedCommand => ({
              name: command.name,
              ...Object.fromEntries(Object.entries(command).filter(([field]) => takenFields.has(field))),
            }),
          ),
      };
    }),

    /**
     * Replaces the list of the application's commands, so it has to contain the foreign ones. Fails with
     * `RefusedInWords`.
     */
    replace: Effect.fnUntraced(function* (commands: ReadonlyArray<NamedCommand>) {
      yield* askInWords(client, "PUT /applications/{application_id}/commands", {
        operation: "ChatCommands.replace",
        path: yield* pathOf,
        body: commands,
        found: Schema.Unknown,
      });
    }),

    /** Discord sends a ping to the address, and refuses it in words unless the service answers. */
    setAddress: (url: string) =>
      Effect.asVoid(
        askInWords(client, "PATCH /applications/@me", {
          operation: "ChatCommands.setAddress",
          body: { interactions_endpoint_url: url },
          found: Schema.Unknown,
        }),
      ),
  };
});

/** A command as Discord lists it, whatever other fields it has. */
const Listed = Schema.StructWithRest(
  Schema.Struct({ name: Schema.String, type: Schema.optional(Schema.Int) }),
  [Schema.Record(Schema.String, Schema.Unknown)],
);

/** The listed fields that Discord takes back. A known `id` keeps the command's permissions. */
const takenFields: ReadonlySet<string> = new Set([
  "id",
  "name",
  "name_localizations",
  "description",
  "description_localizations",
  "options",
  "default_member_permissions",
  "contexts",
  "integration_types",
  "handler",
  "type",
  "nsfw",
]);

interface NamedCommand {
  readonly name: string;
  readonly type?: number | undefined;
}

/** A name may be used once for each type of command. Type 1, a typed command, may be left out. */
const keyOf = ({ name, type = 1 }: NamedCommand): string => `${type} ${name}`;

const decodeCommand = Schema.decodeUnknownOption(InstalledCommand);

/** What an installation sets of a command, to compare; none for anything else. */
const installs = (command: unknown) => Option.map(decodeCommand(command), comparable);

/** The JSON of a command with sorted keys. Discord leaves out empty and false values. */
const comparable = (command: unknown): string =>
  JSON.stringify(command, (_, value: unknown) => {
    if (value === null || value === false || value === "") return undefined;
    if (typeof value !== "object" || Array.isArray(value)) return value;
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  });

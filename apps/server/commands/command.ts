/** What commands share: how they are declared, and how they answer. */
import { userInfo } from "node:os";
import { originOfOperator, type WriteOrigin } from "@accountlink/core/audit";
import { Console, Effect } from "effect";
import { Command } from "effect/cli";
import { answer, Json } from "../cli/output.ts";
import { paragraphs } from "../cli/usage.ts";
import { StorageLocation } from "../config/resolved_config.ts";
import { printable } from "../message_text.ts";
import { managementLayer } from "./management_layer.ts";

type Run<Flags extends Command.Command.Config, Step> = (
  choice: Command.Command.Config.Infer<Flags>,
) => Generator<Step, void, never>;

/** Declares a command on the storage of the server. `whenNew` says what to do with a storage without data. */
export const managed = <
  const Name extends string,
  const Flags extends Command.Command.Config,
  Step extends Effect.Effect<unknown, unknown, unknown>,
>(
  name: Name,
  flags: Flags,
  run: Run<Flags, Step>,
  whenNew: "make" | "refuse" = "refuse",
) => Command.make(name, flags, Effect.fnUntraced(run, Effect.provide(managementLayer(whenNew))));

/** Declares a command that is in no group, and accepts `--json`. */
export const single = <
  const Name extends string,
  const Flags extends Command.Command.Config,
  Step extends Effect.Effect<unknown, unknown, unknown>,
>(
  name: Name,
  flags: Flags,
  run: Run<Flags, Step>,
) => Command.make(name, flags, Effect.fnUntraced(run)).pipe(Command.withGlobalFlags([Json]));

/** Describes a command. A list of commands shows the text up to its first punctuation mark. */
export const describe =
  (description: string | ReadonlyArray<string>, examples: Readonly<Record<string, string>> = {}) =>
  <const Name extends string, Input, ContextInput, E, R>(
    command: Command.Command<Name, Input, ContextInput, E, R>,
  ) => {
    const text = paragraphs(...[description].flat());
    return command.pipe(
      Command.withDescription(text),
      Command.withShortDescription(text.split(/[.,:;](?:\s|$)/, 1).join("")),
      Command.withExamples(
        Object.entries(examples).map(([example, use]) => ({ command: example, description: use })),
      ),
    );
  };

/** Declares a command that only has subcommands, which accept `--json`. */
export const group = <
  const Name extends string,
  const Entries extends ReadonlyArray<Command.Command.SubcommandEntry>,
>(
  name: Name,
  description: string,
  subcommands: Entries,
) =>
  Command.make(name).pipe(
    describe(description),
    Command.withSubcommands(subcommands),
    Command.withGlobalFlags([Json]),
  );

/** Prints the result of a command, and in which storage it is. */
export const answerWithLocation = (json: object, text: string) =>
  Effect.flatMap(StorageLocation, (location) =>
    answer({ ...json, ...location.json }, `${text} in ${location.text}`),
  );

/** Prints only the secret on standard output, so that a shell can capture it, and what it is on standard error. */
export const answerSecret = Effect.fnUntraced(function* (
  json: object,
  secret: string,
  text: string,
  note = "",
) {
  const location = yield* StorageLocation;
  yield* answer({ ...json, ...location.json }, secret);
  if (!(yield* Json)) yield* Console.error(printable(`\n${text}, in ${location.text}.${note}`));
});

/** Returns the origin of changes by commands. The audit log names the operating system's user as the actor. */
export const operatorOrigin = (): WriteOrigin => originOfOperator(userName());

const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // In a container, the user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};

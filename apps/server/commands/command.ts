/** How commands are declared. */
import { Effect } from "effect";
import { Command } from "effect/cli";
import { Json } from "../cli/output.ts";
import { paragraphs } from "../cli/usage.ts";
import { managementLayer } from "./management_layer.ts";

/** Declares a command on the storage of the server. `whenNew` says what to do with a storage without data. */
export const managed = <
  const Name extends string,
  const Flags extends Command.Command.Config,
  Step extends Effect.Effect<unknown, unknown, unknown>,
>(
  name: Name,
  flags: Flags,
  run: (choice: Command.Command.Config.Infer<Flags>) => Generator<Step, void, never>,
  whenNew: "make" | "refuse" = "refuse",
) => Command.make(name, flags, Effect.fnUntraced(run, Effect.provide(managementLayer(whenNew))));

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
        Object.entries(examples).map(([example, description]) => ({ command: example, description })),
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

import { Console, Effect } from "effect";
import { type CliError, CliOutput, type HelpDoc } from "effect/cli";
import { jsonWanted } from "./output.ts";
import { CommandFailed, reportFailure } from "./report.ts";

/**
 * Prints requested help on standard output, help after a missing subcommand on standard error, and an error as one line
 * on standard error or as JSON.
 */
export const usagePresenter = CliOutput.layerPresenter({
  present: Effect.fnUntraced(function* (event) {
    if (event._tag === "Version" || (event._tag === "Help" && event.reason === "Requested")) {
      return yield* CliOutput.defaultPresenter.present(event);
    }
    const command = event.commandPath.join(" ");
    if (event._tag === "InvalidInvocation") {
      const problems = event.errors.map(usageProblem).join("; ");
      return yield* refuse(`Cannot run "${command}": ${problems} (see ${command} --help)`);
    }
    const problem = `Cannot run "${command}": there is no command, expected ${subcommandsOf(event.helpDoc)}`;
    if (yield* jsonWanted) return yield* refuse(problem);
    const formatter = yield* CliOutput.Formatter;
    return yield* Console.error(formatter.formatHelpDoc(event.helpDoc));
  }),
});

const refuse = (problem: string): Effect.Effect<void> => reportFailure(new CommandFailed({ problem }));

const subcommandsOf = ({ subcommands = [] }: HelpDoc.HelpDoc): string =>
  subcommands
    .flatMap(({ commands }) => commands)
    .map(({ name }) => name)
    .join(", ");

const usageProblem = (error: CliError.NonShowHelpErrors): string => {
  switch (error._tag) {
    case "UnrecognizedOption":
      return `flag ${shown(error.option)} is not known${meant(error.suggestions)}`;
    case "UnknownSubcommand":
      return `command ${shown(error.subcommand)} is not known${meant(error.suggestions)}`;
    case "MissingOption":
      return `flag --${error.option} is missing`;
    case "MissingArgument":
      return `argument <${error.argument}> is missing`;
    case "UnexpectedArgument":
      return `argument ${error.arguments.map(shown).join(", ")} is not expected`;
    case "InvalidValue":
      return (
        `${error.kind === "flag" ? `--${error.option}` : `<${error.option}>`} is ` +
        `${shown(error.value)}, ${expectation(error.expected)}`
      );
    case "DuplicateOption":
    case "UserError":
    case "ValidationError":
      return error.message;
  }
};

const meant = (suggestions: ReadonlyArray<string>): string =>
  suggestions.length === 0 ? "" : `, expected perhaps ${suggestions.join(" or ")}`;

const expectation = (expected: string): string =>
  /^expected/i.test(expected) ? expected.charAt(0).toLowerCase() + expected.slice(1) : `expected ${expected}`;

/** Formats an argument for an error message. Hides an argument that may contain a key. */
const shown = (word: string): string =>
  word.includes("alk_") ? `a value of ${word.length} characters` : `"${word}"`;

const helpWidth = 100;

/**
 * Formats the paragraphs of a help text: wraps their lines at `helpWidth`, and indents each line after the first by two
 * spaces.
 */
export const paragraphs = (...texts: ReadonlyArray<string>): string =>
  texts.map((text) => wrap(text).join("\n  ")).join("\n\n  ");

const wrap = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || longer.length > helpWidth) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
};

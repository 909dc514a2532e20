/**
 * How commands end that cannot do their work.
 */
import { redact, redactKeys } from "@accountlink/core";
import { Cause, Console, Data, type Effect, Predicate } from "effect";
import { jsonWanted, printable } from "./output.ts";

/** A command could not do its work. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  /** What could not be done and why, in one line. */
  readonly problem: string;
  /** Lines that are printed before it. */
  readonly notes?: ReadonlyArray<string>;
  /** What the answer in JSON has beside the problem. */
  readonly details?: Readonly<Record<string, unknown>>;
}> {
  override readonly message = this.problem;
}

/**
 * Says in one line what stood in the way: on standard error, or with `--json` as JSON on standard output.
 *
 * @param action what a wrong configuration stood in the way of, such as `Cannot start`
 */
export const report = (cause: Cause.Cause<unknown>, action: string): Effect.Effect<void> => {
  const error = Cause.squash(cause);
  if (error instanceof CommandFailed) return reportFailure(error);
  // The addresses in a configuration are the operator's own, and what has to be corrected.
  if (Predicate.isTagged(error, "InvalidConfig")) {
    return print(new CommandFailed({ problem: `${action}: ${messageOf(error)}` }), redactKeys);
  }
  const hide = Predicate.isTagged(error, "DatabaseUnusable") ? redactKeys : redact;
  return print(new CommandFailed({ problem: problemOf(error) }), hide);
};

/** The same for a failure that is known. */
export const reportFailure = (failure: CommandFailed): Effect.Effect<void> => print(failure, redact);

const print = (
  { problem, notes = [], details }: CommandFailed,
  hide: (text: string) => string,
): Effect.Effect<void> =>
  jsonWanted()
    ? Console.log(printable(hide(JSON.stringify({ error: oneLine(problem), ...details }))))
    : Console.error(printable(hide([...notes, problem].map(oneLine).join("\n"))));

const oneLine = (text: string): string => text.trim().replace(/\s*[\r\n]+\s*/g, " ");

const problemOf = (error: unknown): string => {
  if (Predicate.isTagged(error, "StoreUnavailable")) return `Cannot use the database: ${reasonOf(error)}`;
  if (!Predicate.hasProperty(error, "_tag")) return `Cannot go on, this is a bug: ${reasonOf(error)}`;
  return ownMessage(error) === "" ? `Cannot go on: ${reasonOf(error)}` : ownMessage(error);
};

/** The innermost message: what the database, the file system or the network itself said. */
export const reasonOf = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined;
  return Predicate.hasProperty(cause, "message") ? reasonOf(cause) : messageOf(error);
};

const messageOf = (error: unknown): string => (ownMessage(error) === "" ? String(error) : ownMessage(error));

// Some errors have a name and no message.
const ownMessage = (error: unknown): string =>
  Predicate.hasProperty(error, "message") ? String(error.message) : "";

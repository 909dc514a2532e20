import { redact, redactKeys } from "@accountlink/core/addresses";
import { ownMessage, reasonOf } from "@accountlink/core/errors";
import { StorageSql } from "@accountlink/sql";
import { Cause, Console, Data, Effect, Predicate } from "effect";
import { InvalidConfig } from "../config/config.ts";
import { printable } from "../message_text.ts";
import { jsonWanted } from "./output.ts";

export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  /** What failed and why, in one line. */
  readonly problem: string;
  /** Lines to print before the problem. */
  readonly notes?: ReadonlyArray<string>;
  /** Additional fields of the JSON output. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Whether the problem names storages of the configuration, whose addresses the operator may read. */
  readonly namesStorages?: boolean;
}> {
  override readonly message = this.problem;
}

/** The error of a command whose output already reports the failure. */
export class AlreadyReported extends Data.TaggedError("AlreadyReported") {}

/**
 * Prints each problem as one line on standard error, or with `--json` as JSON on standard output.
 *
 * @param action the beginning of messages about configuration errors, such as `Cannot start`
 */
export const report = (cause: Cause.Cause<unknown>, action: string): Effect.Effect<void> => {
  const error = Cause.squash(cause);
  return print(failureOf(error, action), redactionOf(error));
};

export const reportFailure = (failure: CommandFailed): Effect.Effect<void> => print(failure, redact);

export const failureOf = (error: unknown, action: string): CommandFailed => {
  if (error instanceof CommandFailed) return error;
  if (error instanceof StorageSql.DataFolderInUse && action !== "Cannot start") {
    return new CommandFailed({ problem: `${action}: ${error.problem}, expected a stopped server` });
  }
  if (!(error instanceof InvalidConfig)) return new CommandFailed({ problem: problemOf(error) });
  const lines = [error.problem, ...(error.others ?? [])].map((line) => `${action}: ${line}`);
  const notes = lines.slice(0, -1);
  const details = notes.length === 0 ? {} : { others: notes };
  return new CommandFailed({ problem: lines.at(-1) ?? "", notes, details });
};

/**
 * Hides keys and IP addresses; keeps the addresses of the operator's configuration, which the operator has to correct.
 */
const redactionOf = (error: unknown) =>
  error instanceof InvalidConfig ||
  isUnusable(error) ||
  (error instanceof CommandFailed && error.namesStorages)
    ? redactKeys
    : redact;

const isUnusable = (error: unknown) =>
  Predicate.isTagged(error, "DatabaseUnusable") || Predicate.isTagged(error, "RedisUnusable");

const print = (
  { problem, notes = [], details }: CommandFailed,
  hide: (text: string) => string,
): Effect.Effect<void> =>
  Effect.flatMap(jsonWanted, (wanted) =>
    wanted
      ? Console.log(printable(hide(JSON.stringify({ error: oneLine(problem), ...details }))))
      : Console.error(printable(hide([...notes, problem].map(oneLine).join("\n")))),
  );

const oneLine = (text: string): string => text.trim().replace(/\s*[\r\n]+\s*/g, " ");

/** What failed and why; unexpected errors are reported as bugs. */
export const problemOf = (error: unknown): string => {
  if (Predicate.isTagged(error, "StoreUnavailable")) return `Cannot use the database: ${reasonOf(error)}`;
  if (!Predicate.hasProperty(error, "_tag")) return `Cannot go on, this is a bug: ${reasonOf(error)}`;
  return ownMessage(error) === "" ? `Cannot go on: ${reasonOf(error)}` : ownMessage(error);
};

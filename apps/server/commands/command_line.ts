import { Cause, Effect, Exit } from "effect";
import { CliConfig, CliError, Command, GlobalFlag } from "effect/cli";
import { Invocation } from "../cli/invocation.ts";
import { AlreadyReported, report } from "../cli/report.ts";
import { usagePresenter } from "../cli/usage.ts";
import manifest from "../package.json" with { type: "json" };
import { accountlink } from "./accountlink.ts";

/** The beginning of messages about the configuration, by command. */
const actions: ReadonlyMap<string, string> = new Map([
  ["serve", "Cannot start"],
  ["backup", "Cannot back up"],
  ["restore", "Cannot restore"],
  ["move", "Cannot move the data"],
]);

const interrupted = 130;

/** Runs the command of the invocation and reports its failure. */
export const runCommandLine = Effect.gen(function* () {
  const { words } = yield* Invocation;
  const action = actions.get(words[0] ?? "") ?? "Cannot run the command";
  return yield* Command.runWith(accountlink, { version: manifest.version })(words).pipe(
    Effect.tapCause((cause) => (isReported(cause) ? Effect.void : report(cause, action))),
  );
}).pipe(
  Effect.provide([
    usagePresenter,
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  ]),
);

/** 0 for success, 1 for a failure, 2 for an invalid command line. */
export const exitCodeOf = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0;
  // A signal interrupted the command. `serve` has already set the exit code for this case.
  if (Cause.hasInterruptsOnly(exit.cause)) return Number(process.exitCode ?? interrupted);
  return isWrongUsage(exit.cause) ? 2 : 1;
};

const isReported = (cause: Cause.Cause<unknown>): boolean =>
  Cause.hasInterruptsOnly(cause) || isWrongUsage(cause) || Cause.squash(cause) instanceof AlreadyReported;

const isWrongUsage = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause);
  return CliError.isCliError(error) && error._tag === "ShowHelp";
};

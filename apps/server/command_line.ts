/**
 * One run of the command line: what it is given, and how it ends.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Cause, Effect, Exit } from "effect";
import { CliConfig, CliError, Command, GlobalFlag } from "effect/cli";
import { accountlink } from "./accountlink.ts";
import { report } from "./internal/report.ts";
import { usagePresenter } from "./internal/usage.ts";
import manifest from "./package.json" with { type: "json" };

/** What a shell shows for a program that was ended by SIGINT and by SIGPIPE. */
const interrupted = 130;
const pipeClosed = 141;

const isWrongUsage = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause);
  return CliError.isCliError(error) && error._tag === "ShowHelp";
};

/** 0 when the work was done, 1 when it was not, 2 when the command line was wrong. */
const exitCode = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0;
  // A server ends by being told to, and has set its code.
  if (Cause.hasInterruptsOnly(exit.cause)) return Number(process.exitCode ?? interrupted);
  return isWrongUsage(exit.cause) ? 2 : 1;
};

const action = process.argv[2] === "serve" ? "Cannot start" : "Cannot run the command";

// Whoever reads has seen enough, as with `accountlink keys list | head -1`. A server goes on.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE" && process.exitCode === undefined) process.exit(pipeClosed);
});

// The first signal ends the run. Another one, such as npm's after that of the terminal, may come when the runtime does
// not listen any more and the process is about to exit: it must not be what the process dies of.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

Command.run(accountlink, { version: manifest.version }).pipe(
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause) || isWrongUsage(cause) ? Effect.void : report(cause, action),
  ),
  Effect.provide([
    NodeServices.layer,
    NodeCrypto.layerSecureRandom,
    usagePresenter,
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  ]),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCode(exit)),
  }),
);

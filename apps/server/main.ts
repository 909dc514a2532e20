/**
 * The command line of accountlink.
 */
import { NodeCrypto, NodeRuntime, NodeServices } from "@effect/platform-node";
import { Cause, Effect, Exit } from "effect";
import { Command } from "effect/cli";
import { serveCommand } from "./commands/serve.ts";

const accountlink = Command.make("accountlink").pipe(
  Command.withDescription("Links between chat-platform accounts and game-platform accounts"),
  Command.withSubcommands([serveCommand]),
);

/** 0 when the work was done or the process was told to stop, 1 otherwise. */
const exitCode = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1;

Command.run(accountlink, { version: "0.1.0" }).pipe(
  Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom]),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCode(exit)),
  }),
);

/** Runs the command line as a process: signals, pipes and the exit code. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Effect } from "effect";
import { exitCodeOf, runCommandLine } from "./command_line.ts";

const pipeClosed = 141;

// If the reader closes the pipe, as in `accountlink keys list | head -1`, a command exits, and a server continues.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE" && process.exitCode === undefined) process.exit(pipeClosed);
});

// The first signal interrupts the run. A second signal, for example if the terminal and npm both send one, may arrive
// after the runtime has removed its listeners. It must not kill the process before the process exits by itself.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeAllListeners(signal).on(signal, () => {});

runCommandLine.pipe(
  Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom]),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCodeOf(exit)),
  }),
);

/** Runs the command line as a process: signals, pipes and the exit code. */
import { writeSync } from "node:fs";
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Effect } from "effect";
import { muteDrivers } from "../telemetry/logging.ts";
import { exitCodeOf, type runCommandLine } from "./command_line.ts";

const pipeClosed = 141;

export const runProcess = (commandLine: typeof runCommandLine): void => {
  // If the reader closes the pipe, as in `accountlink keys list | head -1`, a command exits, and a server continues.
  // On a full disk, a command may have printed a secret that is now nowhere, and a server logs again when there is room.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (process.exitCode !== undefined) return;
    if (error.code === "EPIPE") process.exit(pipeClosed);
    writeSync(2, `Cannot print the answer: ${error.message}, expected room where standard output goes\n`);
    process.exit(1);
  });

  // `runMain` handles the first signal, and then removes its listeners. If the terminal and npm both send a signal, this
  // listener prevents the second one from killing the process during its shutdown.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.removeAllListeners(signal).on(signal, () => {});
  // A closed terminal stops a server as gracefully as SIGTERM does.
  process.on("SIGHUP", () => process.emit("SIGTERM"));

  commandLine.pipe(
    Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom, muteDrivers]),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      teardown: (exit, onExit) => onExit(exitCodeOf(exit)),
    }),
  );
};

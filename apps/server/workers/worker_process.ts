/**
 * Runs the command line as a worker.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Effect, Fiber } from "effect";
import { exitCodeOf, runCommandLine } from "../cli/command_line.ts";
import { CurrentWorker, joinPrimary } from "./worker.ts";

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

const worker = Effect.promise(() => joinPrimary(() => fiber.interruptUnsafe()));

const fiber = worker.pipe(
  Effect.flatMap((joined) => Effect.provideService(runCommandLine, CurrentWorker, joined)),
  Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom]),
  Effect.runFork,
);

const exit = await Effect.runPromise(Fiber.await(fiber));
process.exit(exitCodeOf(exit));

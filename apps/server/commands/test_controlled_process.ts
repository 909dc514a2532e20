/** For tests: runs the command line as a process whose dev platform has the routes that control it. */
import { withTestControl } from "@accountlink/platforms/dev/test_control";
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Effect } from "effect";
import { exitCodeOf, runCommandLine } from "./command_line.ts";

runCommandLine.pipe(
  withTestControl,
  Effect.provide([NodeServices.layer, NodeCrypto.layerSecureRandom]),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCodeOf(exit)),
  }),
);

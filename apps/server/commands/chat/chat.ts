import type { PlatformUnavailable } from "@accountlink/core";
import { Effect, Predicate } from "effect";
import { Command } from "effect/cli";
import { FetchHttpClient } from "effect/http";
import { Invocation } from "../../cli/invocation.ts";
import { answer } from "../../cli/output.ts";
import { AlreadyReported, CommandFailed } from "../../cli/report.ts";
import { readConfig } from "../../config/config.ts";
import { resolveConfig } from "../../config/resolved_config.ts";
import { reasonOf } from "../../message_text.ts";
import { describe, group } from "../command.ts";
import { inspectChat } from "./inspect_chat.ts";

const inspect = Effect.gen(function* () {
  const { config, platform } = yield* resolveConfig(yield* readConfig((yield* Invocation).environment));
  if (platform.kind === "live") return yield* inspectChat(config, platform);
  return yield* new CommandFailed({
    problem: `Cannot look for commands: ACCOUNTLINK_PLATFORM is ${platform.kind}, expected live`,
  });
});

const onPlatform = <A, E, R>(work: Effect.Effect<A, E | PlatformUnavailable, R>) =>
  work.pipe(
    Effect.scoped,
    Effect.provide(FetchHttpClient.layer),
    Effect.catchIf(
      (error) => Predicate.isTagged(error, "PlatformUnavailable"),
      (error) => new CommandFailed({ problem: `Cannot reach the chat platform: ${reasonOf(error)}` }),
    ),
  );

const install = Effect.gen(function* () {
  const { installation, commands, differences, address, ownAddress, keyProblem } = yield* inspect;
  if (differences.length > 0) yield* installation.replaceCommands(commands);
  const isOwn = address === null || new URL(address).origin === new URL(ownAddress).origin;
  if (isOwn && address !== ownAddress) {
    yield* Effect.mapError(
      installation.setAddress(ownAddress),
      () =>
        new CommandFailed({
          problem: `Cannot set the address: the chat platform does not get an answer at ${ownAddress}; start the server and make the address public`,
        }),
    );
  }
  const done = [
    differences.length === 0
      ? "All commands are there already."
      : `Installed ${commands.length} commands; changed: ${differences.join(", ")}.`,
    isOwn
      ? `Commands are sent to ${ownAddress}.`
      : `Commands are sent to ${address}, which is not this service: the address stays. Clear it at the chat platform, and install again.`,
    ...keyProblem,
  ];
  yield* answer({ changed: differences, address: isOwn ? ownAddress : address, isOwn }, done.join("\n"));
});

const installCommand = Command.make("install", {}, () => onPlatform(install)).pipe(
  describe([
    "Make the commands of members and managers at the chat platform, with their names in every language, and send them to this service. The server has to run, because the chat platform tests its address.",
    "An address of another service stays.",
  ]),
);

const show = Effect.gen(function* () {
  const { differences, address, ownAddress, problems } = yield* inspect;
  yield* answer(
    { differences, address, expectedAddress: ownAddress },
    problems.length === 0 ? `All commands are there, and are sent to ${ownAddress}.` : problems.join("\n"),
  );
  if (problems.length > 0) return yield* new AlreadyReported();
});

const showCommand = Command.make("show", {}, () => onPlatform(show)).pipe(
  describe("Compare the commands at the chat platform with this version. The exit code is 1 if they differ."),
);

export const chatCommand = group("chat", "The commands of members and managers at the live chat platform", [
  installCommand,
  showCommand,
]);

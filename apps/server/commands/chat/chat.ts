import type { PlatformUnavailable } from "@accountlink/core";
import { reasonOf } from "@accountlink/core/errors";
import { commandBodies, interactionsPath } from "@accountlink/pages/chat";
import type { RefusedInWords } from "@accountlink/platforms/live";
import { Effect, Predicate } from "effect";
import { Command } from "effect/cli";
import { FetchHttpClient } from "effect/http";
import { givenConfig } from "../../cli/invocation.ts";
import { answer } from "../../cli/output.ts";
import { AlreadyReported, CommandFailed } from "../../cli/report.ts";
import type { Config } from "../../config/config.ts";
import { type OfKind, type Platform, resolveConfig } from "../../config/resolved_config.ts";
import { describe, group } from "../command.ts";

const inspect = Effect.gen(function* () {
  const { config, platform } = yield* resolveConfig(yield* givenConfig);
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
      (error) => new CommandFailed({ problem: unavailableText(error) }),
    ),
  );

const unavailableText = (error: unknown): string => {
  const { retryAfterMs } = error as PlatformUnavailable;
  if (retryAfterMs === undefined) return `Cannot reach the chat platform: ${reasonOf(error)}`;
  const wait = retryAfterMs === 0 ? "later" : `in ${Math.ceil(retryAfterMs / 60_000)} minutes`;
  return `The chat platform takes no more changes for now: try again ${wait}`;
};

const saidIn = ({ status, words }: RefusedInWords): string =>
  words === "" ? `it answers with the status ${status}` : `it says "${words}"`;

const refusing =
  (what: string, advice = "") =>
  (refused: RefusedInWords) =>
    new CommandFailed({ problem: `The chat platform refuses ${what}: ${saidIn(refused)}${advice}` });

const install = Effect.gen(function* () {
  const { installation, commands, differences, foreign, address, ownAddress, keyProblem } = yield* inspect;
  if (differences.length > 0) {
    const replaced = installation.replace([...commands, ...foreign]);
    yield* Effect.catchTag(replaced, "RefusedInWords", refusing("the commands"));
  }
  const isOwn = address === null || new URL(address).origin === new URL(ownAddress).origin;
  if (isOwn && address !== ownAddress) {
    yield* Effect.catchTag(
      installation.setAddress(ownAddress),
      "RefusedInWords",
      refusing(
        `the address ${ownAddress}`,
        ". It needs an answer there: start the server and make the address public",
      ),
    );
  }
  const done = [
    differences.length === 0
      ? "All commands are there already."
      : `Made or changed ${differences.length} commands: ${differences.join(", ")}.`,
    ...foreignText(foreign),
    isOwn
      ? `Commands are sent to ${ownAddress}.`
      : `Commands are sent to ${address}, which is not this service: the address stays. Clear it at the chat platform, and install again.`,
    ...keyProblem,
  ];
  yield* answer(
    {
      changed: differences,
      foreign: foreign.map(({ name }) => name),
      address: isOwn ? ownAddress : address,
      isOwn,
    },
    done.join("\n"),
  );
});

const foreignText = (foreign: ReadonlyArray<{ readonly name: string }>) =>
  foreign.length === 0
    ? []
    : [`Other commands of the application stay: ${foreign.map(({ name }) => name).join(", ")}.`];

const installCommand = Command.make("install", {}, () => onPlatform(install)).pipe(
  describe([
    "Make the commands of members and managers at the chat platform, with their names in every " +
      "language, and send them to this service. The server has to run, because the chat platform tests its address.",
    "Other commands of the application stay, and so does an address of another service.",
  ]),
);

const show = Effect.gen(function* () {
  const { differences, foreign, address, ownAddress, problems } = yield* inspect;
  const found = problems.length === 0 ? [`All commands are there, and are sent to ${ownAddress}.`] : problems;
  yield* answer(
    { differences, foreign: foreign.map(({ name }) => name), address, expectedAddress: ownAddress },
    [...found, ...foreignText(foreign)].join("\n"),
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

/** Compares what the application at the chat platform has with this version of the service. */
export const inspectChat = Effect.fnUntraced(function* (
  config: Config,
  { publicUrl, chat }: OfKind<Platform, "live">,
) {
  const { liveChatInstallation } = yield* Effect.promise(() => import("@accountlink/platforms/live"));
  const installation = yield* liveChatInstallation({ ...chat, publicUrl });
  const commands = yield* commandBodies;
  const { interactions_endpoint_url: found, verify_key: key } = yield* installation.application;
  const { differing, foreign } = yield* installation.compare(commands);
  const differences = differing.map(({ name }) => name);
  const address = found === undefined || found === "" ? null : found;
  const ownAddress = `${publicUrl}${interactionsPath}`;
  const keyProblem =
    (config.ACCOUNTLINK_CHAT_PUBLIC_KEY ?? key).toLowerCase() === key.toLowerCase()
      ? []
      : ["ACCOUNTLINK_CHAT_PUBLIC_KEY is another key than the application's."];
  const problems = [
    ...differences.map((name) => `The command "${name}" differs.`),
    ...(address === ownAddress
      ? []
      : [`Commands are sent to ${address ?? "no address"}, expected ${ownAddress}.`]),
    ...keyProblem,
  ];
  const isInstalled = address !== null || differences.length < commands.length;
  return {
    installation,
    commands,
    differences,
    foreign,
    address,
    ownAddress,
    isInstalled,
    keyProblem,
    problems,
  };
});

/**
 * `accountlink doctor`
 */
import { Effect } from "effect";
import { Command } from "effect/cli";
import type { Config } from "../config.ts";
import { checkConfiguration } from "../internal/doctor_configuration.ts";
import { checkFolder } from "../internal/doctor_folder.ts";
import { checkPlatform } from "../internal/doctor_platform.ts";
import { deploymentIdOf } from "../internal/doctor_secret.ts";
import { checkServer } from "../internal/doctor_server.ts";
import { checkCache, checkPostgres } from "../internal/doctor_shared.ts";
import { type Finding, fail, ok } from "../internal/finding.ts";
import { paragraphs } from "../internal/help.ts";
import { answer, Json } from "../internal/output.ts";
import { storageOf } from "../plan.ts";

export const doctorCommand = Command.make("doctor", {}, () =>
  Effect.gen(function* () {
    const findings = yield* examine;
    const failed = findings.filter(({ status }) => status === "fail").length;
    yield* answer({ findings, failed }, findings.map(formatFinding).join("\n"));
    // All has been said.
    if (failed > 0) process.exitCode = 1;
  }),
).pipe(
  Command.withGlobalFlags([Json]),
  Command.withDescription(
    paragraphs(
      "Look for what keeps the server from working: every variable, the data folder and who can read it, the secret, the platforms, the database, Redis, the space on the disk, the clock, and the server itself, if one runs. Nothing is changed.",
      "It ends with 1 if anything fails.",
    ),
  ),
  Command.withShortDescription("Check the configuration and everything that the server depends on"),
);

const examine = Effect.gen(function* () {
  const { findings, config } = yield* checkConfiguration(process.env);
  if (config === null) return findings;
  const storage = yield* checkStorage(config);
  return [
    ...findings,
    ...(yield* checkPlatform(config)),
    ...storage.findings,
    yield* checkCache(config),
    yield* checkServer(config, storage.server, yield* deploymentIdOf(config, storage.rootKey)),
  ];
});

/** Gives the server that uses the storage as well, undefined where that cannot be told, and the wrapped root key. */
const checkStorage = Effect.fnUntraced(
  function* (config: Config) {
    const storage = yield* storageOf(config);
    if (storage.kind === "embedded") return yield* checkFolder(config, storage);
    if (storage.kind === "postgres") return yield* checkPostgres(config, storage);
    return { findings: [ok("storage", "memory, which begins empty")], server: undefined, rootKey: null };
  },
  Effect.catch(({ problem }) =>
    Effect.succeed({
      findings: [fail("storage", problem, "Set what is missing")],
      server: undefined,
      rootKey: null,
    }),
  ),
);

const formatFinding = ({ status, check, finding, advice }: Finding): string => {
  const line = `${status.padEnd(4)}  ${check.padEnd(13)}  ${finding}`;
  return advice === null ? line : `${line}\n${" ".repeat(21)}${advice}`;
};

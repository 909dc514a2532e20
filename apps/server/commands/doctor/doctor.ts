import { Effect } from "effect";
import { Command } from "effect/cli";
import { Invocation } from "../../cli/invocation.ts";
import { answer, Json } from "../../cli/output.ts";
import { AlreadyReported } from "../../cli/report.ts";
import { paragraphs } from "../../cli/usage.ts";
import type { Config } from "../../config/config.ts";
import { storageOf } from "../../config/resolved_config.ts";
import { checkUploadFolder } from "../../files/upload_folder.ts";
import { checkConfiguration } from "./check_configuration.ts";
import { checkFolder } from "./check_folder.ts";
import { checkPlatform } from "./check_platform.ts";
import { deploymentIdOf } from "./check_root_key.ts";
import { checkServer } from "./check_server.ts";
import { checkCache, checkPostgres } from "./check_shared.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

export const doctorCommand = Command.make("doctor", {}, () =>
  Effect.gen(function* () {
    const findings = yield* examine;
    const failed = findings.filter(({ status }) => status === "fail").length;
    yield* answer({ findings, failed }, findings.map(formatFinding).join("\n"));
    if (failed > 0) return yield* new AlreadyReported();
  }),
).pipe(
  Command.withGlobalFlags([Json]),
  Command.withDescription(
    paragraphs(
      "Check everything that the server needs: every variable, the data folder and its mode, the secret, the platforms, the database, Redis, the disk space, the temporary folder, the clock, and the server itself, if one runs. Nothing is changed.",
      "The exit code is 1 if a check fails.",
    ),
  ),
  Command.withShortDescription("Check the configuration and everything that the server depends on"),
);

const examine = Effect.gen(function* () {
  const { findings, config } = yield* checkConfiguration((yield* Invocation).environment);
  if (config === null) return findings;
  const storage = yield* checkStorage(config);
  return [
    ...findings,
    ...(yield* checkPlatform(config)),
    ...storage.findings,
    yield* checkCache(config),
    yield* checkUploads,
    yield* checkServer(config, storage.server, yield* deploymentIdOf(config, storage.rootKey)),
  ];
});

const checkUploads = Effect.map(checkUploadFolder, ({ problem }) =>
  problem === null
    ? ok("uploads", "the temporary folder can be written, and has room")
    : warn("uploads", problem, "Make room, or set TMPDIR to a folder of the server's own"),
);

/** Also returns the server that uses the storage, undefined if unknown, and the wrapped root key. */
const checkStorage = Effect.fnUntraced(
  function* (config: Config) {
    const storage = yield* storageOf(config);
    switch (storage.kind) {
      case "embedded":
        return yield* checkFolder(config, storage);
      case "postgres":
        return yield* checkPostgres(config, storage);
      case "memory":
        return { findings: [ok("storage", "memory, which begins empty")], server: undefined, rootKey: null };
    }
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

import { unwrapWithAny } from "@accountlink/core/secrets";
import { StorageSql } from "@accountlink/sql";
import { Effect } from "effect";
import { Argument, Command } from "effect/cli";
import { makeBackup } from "../../backups/backups.ts";
import { Invocation } from "../../cli/invocation.ts";
import { answer, countOf, Json } from "../../cli/output.ts";
import { CommandFailed } from "../../cli/report.ts";
import { readConfig } from "../../config/config.ts";
import { type Storage, storageOf } from "../../config/resolved_config.ts";
import { prepareFolder } from "../../files/data_folder.ts";
import { cryptoLayer } from "../../layers/crypto_layer.ts";
import { knownSecrets, secretFile, secretRejected } from "../../secrets/deployment_secret.ts";
import { describe } from "../command.ts";

/** Returns the configuration of the embedded storage. Postgres and Redis have programs of their own. */
const embeddedStorage = Effect.gen(function* () {
  const config = yield* readConfig((yield* Invocation).environment);
  const storage: Storage = yield* storageOf(config);
  if (storage.kind === "embedded") return { config, storage };
  return yield* new CommandFailed({
    problem: `Cannot back up storage "${storage.kind}", expected embedded: docs/operating.md has the programs of the others`,
  });
});

const rowsOf = (tables: Readonly<Record<string, number>>): number =>
  Object.values(tables).reduce((sum, count) => sum + count, 0);

export const backupCommand = Command.make(
  "backup",
  { folder: Argument.String("dir").pipe(Argument.withDescription("Folder of the backups")) },
  ({ folder }) =>
    Effect.gen(function* () {
      const { config, storage } = yield* embeddedStorage;
      if (StorageSql.holdsNothing(storage.folder)) {
        return yield* new CommandFailed({
          problem: `Cannot back up data folder "${storage.folder}": it holds no data, expected the folder of a server`,
        });
      }
      const made = yield* makeBackup(storage.folder, folder, config.ACCOUNTLINK_BACKUP_KEEP);
      const { file, size, version, tables, deleted } = made;
      const records = rowsOf(tables);
      yield* answer(
        { file, bytes: size, schema: version, records, tables, deleted },
        `Wrote ${file} with ${countOf(records, "record")}. It needs the secret, which is not in it`,
      );
    }),
).pipe(
  Command.withGlobalFlags([Json]),
  describe(
    [
      "Write a backup of the embedded storage into a folder, also beside a running server. The file gets its name " +
        "once it was read whole; then the oldest backups over ACCOUNTLINK_BACKUP_KEEP are deleted.",
      "The secret is not in it: copy that to another place. A server makes backups by itself under ACCOUNTLINK_BACKUP_DIR.",
    ],
    { "accountlink backup /var/backups/accountlink": "Back up the storage that serve would use" },
  ),
);

export const restoreCommand = Command.make(
  "restore",
  { file: Argument.String("file").pipe(Argument.withDescription("A file that backup wrote")) },
  ({ file }) =>
    Effect.gen(function* () {
      const { config, storage } = yield* embeddedStorage;
      const { folder } = storage;
      const { rootKey } = yield* StorageSql.checkCopy(file);
      const secrets = yield* knownSecrets(config, folder);
      if (secrets !== null) {
        yield* unwrapWithAny(rootKey, secrets).pipe(
          Effect.catchTag("SecretRejected", () => secretRejected(config, storage)),
          Effect.provide(cryptoLayer),
        );
      }
      yield* prepareFolder(config, folder);
      const { version, tables } = yield* StorageSql.restoreEmbedded(file, folder);
      const records = rowsOf(tables);
      const secret = secrets === null ? "missing" : "fits";
      const note = secrets === null ? `. Copy its secret to ${secretFile(folder)}` : "";
      yield* answer(
        { folder, schema: version, records, tables, secret },
        `Restored ${countOf(records, "record")} into data folder "${folder}"${note}`,
      );
    }),
).pipe(
  Command.withGlobalFlags([Json]),
  describe(
    "Put a backup in place of the database of a data folder whose server is stopped. Nothing is replaced unless the " +
      "file is whole, of this release or an earlier one, and fits the secret.",
  ),
);

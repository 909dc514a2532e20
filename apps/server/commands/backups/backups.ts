import { type DeploymentSecrets, unwrapWithAny } from "@accountlink/core/secrets";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect } from "effect";
import { Argument, Command } from "effect/cli";
import { embeddedBackups, makeBackup } from "../../backups/backups.ts";
import { postgresBackups, readDump, restoreDump } from "../../backups/postgres_dumps.ts";
import { Invocation } from "../../cli/invocation.ts";
import { answer, countOf, Json, rowsIn } from "../../cli/output.ts";
import { CommandFailed } from "../../cli/report.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { locationOf, type PersistentStorage, type Storage, storageOf } from "../../config/resolved_config.ts";
import { prepareFolder } from "../../files/data_folder.ts";
import { cryptoLayer } from "../../layers/crypto_layer.ts";
import { knownSecrets, resolveSecrets, secretFile, secretRejected } from "../../secrets/deployment_secret.ts";
import { describe } from "../command.ts";
import { connectTimeout } from "../management_layer.ts";

/** Returns the configuration of a storage that these commands copy. Redis has files of its own. */
const copiedStorage = Effect.gen(function* () {
  const config = yield* readConfig((yield* Invocation).environment);
  const storage: Storage = yield* storageOf(config);
  if (storage.kind === "embedded" || storage.kind === "postgres") return { config, storage };
  return yield* new CommandFailed({
    problem: `Cannot copy storage "${storage.kind}", expected embedded or postgres: docs/operating.md says how to back up Redis`,
  });
});

export const backupCommand = Command.make(
  "backup",
  { folder: Argument.String("dir").pipe(Argument.withDescription("Folder of the backups")) },
  ({ folder }) =>
    Effect.gen(function* () {
      const { config, storage } = yield* copiedStorage;
      if (storage.kind === "embedded" && StorageSql.holdsNothing(storage.folder)) {
        return yield* new CommandFailed({
          problem: `Cannot back up data folder "${storage.folder}": it holds no data, expected the folder of a server`,
        });
      }
      const keep = config.ACCOUNTLINK_BACKUP_KEEP;
      const made = yield* storage.kind === "embedded"
        ? makeBackup(embeddedBackups(storage.folder), folder, keep)
        : makeBackup(postgresBackups(storage.url), folder, keep);
      const { file, size, version, tables, deleted } = made;
      const records = rowsIn(tables);
      yield* answer(
        { file, bytes: size, schema: version, records, tables, deleted },
        `Wrote ${file} with ${countOf(records, "record")}. It needs the secret, which is not in it`,
      );
    }),
).pipe(
  Command.withGlobalFlags([Json]),
  describe(
    [
      "Write a backup of embedded or postgres into a folder, also beside running servers. The file gets its name " +
        "once it was read whole; then the oldest backups over ACCOUNTLINK_BACKUP_KEEP are deleted. Postgres needs " +
        "pg_dump and pg_restore of its version or later.",
      "The secret is not in it: copy that to another place. A server with embedded storage makes backups by itself " +
        "under ACCOUNTLINK_BACKUP_DIR.",
    ],
    { "accountlink backup /var/backups/accountlink": "Back up the storage that serve would use" },
  ),
);

type StorageOf<Kind extends Storage["kind"]> = Extract<Storage, { readonly kind: Kind }>;

/** Fails unless the secret fits the root key of a backup. */
const checkSecret = (
  config: Config,
  storage: PersistentStorage,
  rootKey: string,
  secrets: DeploymentSecrets,
) =>
  unwrapWithAny(rootKey, secrets).pipe(
    Effect.catchTag("SecretRejected", () => secretRejected(config, storage)),
    Effect.provide(cryptoLayer),
  );

const restoreFolder = Effect.fnUntraced(function* (
  config: Config,
  storage: StorageOf<"embedded">,
  file: string,
) {
  const { folder } = storage;
  const { rootKey } = yield* StorageSql.checkCopy(file);
  const secrets = yield* knownSecrets(config, folder);
  if (secrets !== null) yield* checkSecret(config, storage, rootKey, secrets);
  yield* prepareFolder(config, folder);
  return { ...(yield* StorageSql.restoreEmbedded(file, folder)), isSecretKnown: secrets !== null };
});

const restorePostgres = Effect.fnUntraced(function* (
  config: Config,
  storage: StorageOf<"postgres">,
  file: string,
) {
  const copy = yield* readDump(file);
  yield* checkSecret(config, storage, copy.rootKey, yield* resolveSecrets({ config, storage }));
  const { schema, path } = yield* StoragePostgres.inspectPostgres({ ...storage, connectTimeout });
  if (copy.version > schema.newest) {
    const reason = `its schema is version ${copy.version}, and this release has ${schema.newest}`;
    return yield* new StorageSql.CopyRefused({ file, reason });
  }
  if (schema.version > 0) {
    return yield* new CommandFailed({
      problem: `Cannot restore into "${path}": it holds data, expected an empty database (as its owner: DROP SCHEMA public CASCADE; CREATE SCHEMA public)`,
    });
  }
  yield* restoreDump(file, storage.url);
  return { ...copy, isSecretKnown: true };
});

export const restoreCommand = Command.make(
  "restore",
  { file: Argument.String("file").pipe(Argument.withDescription("A file that backup wrote")) },
  ({ file }) =>
    Effect.gen(function* () {
      const { config, storage } = yield* copiedStorage;
      const restored =
        storage.kind === "embedded"
          ? yield* restoreFolder(config, storage, file)
          : yield* restorePostgres(config, storage, file);
      const { version, tables, isSecretKnown } = restored;
      const records = rowsIn(tables);
      const { text, json } = locationOf(storage);
      const note =
        isSecretKnown || storage.kind !== "embedded"
          ? ""
          : `. Copy its secret to ${secretFile(storage.folder)}`;
      yield* answer(
        { ...json, schema: version, records, tables, secret: isSecretKnown ? "fits" : "missing" },
        `Restored ${countOf(records, "record")} into ${text}${note}`,
      );
    }),
).pipe(
  Command.withGlobalFlags([Json]),
  describe(
    "Put a backup in place of the database of a data folder, or into an empty Postgres, with the servers stopped. " +
      "Nothing changes unless the file is whole, of this release or an earlier one, and fits the secret.",
  ),
);

import { join } from "node:path";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Clock, Effect } from "effect";
import { Argument } from "effect/cli";
import { embeddedBackups, makeBackup, timeText } from "../../backups/backups.ts";
import { postgresBackups, readDump, restoreDump } from "../../backups/postgres_dumps.ts";
import { switchFlag } from "../../cli/flags.ts";
import { givenConfig } from "../../cli/invocation.ts";
import { answer, countOf, rowsIn } from "../../cli/output.ts";
import { CommandFailed, failureOf } from "../../cli/report.ts";
import { type Config, InvalidConfig } from "../../config/config.ts";
import {
  locationOf,
  type OfKind,
  type PersistentStorage,
  type Storage,
  storageOf,
} from "../../config/resolved_config.ts";
import { folderExists, prepareFolder } from "../../files/data_folder.ts";
import { checkIdentity, knownSecrets, resolveSecrets, secretFile } from "../../secrets/deployment_secret.ts";
import { describe, single } from "../command.ts";
import { connectTimeout, openStorage } from "../management_layer.ts";
import { refuseResume, resumeStorage } from "../resume.ts";

/** Returns the configuration of a storage that these commands copy. Redis has files of its own. */
const copiedStorage = Effect.fnUntraced(function* (action: "back up" | "restore") {
  const config = yield* givenConfig;
  const storage: Storage = yield* storageOf(config);
  if (storage.kind === "embedded" || storage.kind === "postgres") return { config, storage };
  const why = storage.kind === "memory" ? "it exists only inside its server" : "Redis has files of its own";
  const hint = storage.kind === "memory" ? "" : ", or a copy of those (docs/operating.md)";
  return yield* new CommandFailed({
    problem: `Cannot ${action} storage "${storage.kind}": ${why}, expected embedded or postgres${hint}`,
  });
});

export const backupCommand = single(
  "backup",
  { folder: Argument.String("dir").pipe(Argument.withDescription("Folder of the backups")) },
  function* ({ folder }) {
    const { config, storage } = yield* copiedStorage("back up");
    if (storage.kind === "embedded") yield* folderExists(config, storage.folder);
    const identity = yield* identityOfStorage(config, storage);
    const options = { folder, identity, keep: config.ACCOUNTLINK_BACKUP_KEEP };
    const made = yield* storage.kind === "embedded"
      ? makeBackup(embeddedBackups(storage.folder), options)
      : makeBackup(postgresBackups(storage.url), options);
    const { file, size, version, tables, deleted } = made;
    const records = rowsIn(tables);
    yield* answer(
      { file, bytes: size, schema: version, records, tables, deleted },
      `Wrote ${file} with ${countOf(records, "record")}. It needs the secret, which is not in it`,
    );
  },
).pipe(
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

type CopiedStorage = OfKind<Storage, "embedded" | "postgres">;

/** The identity that the names of backups carry. */
const identityOfStorage = Effect.fnUntraced(function* (config: Config, storage: CopiedStorage) {
  const { rootKey, setAside } =
    storage.kind === "embedded"
      ? { rootKey: yield* StorageSql.inspectRootKey(storage.folder), setAside: null }
      : yield* StoragePostgres.inspectPostgres({ ...storage, connectTimeout });
  if (rootKey === null) {
    const why =
      setAside === null
        ? "it holds no data, expected the storage of a server"
        : StoragePostgres.cutOff(setAside);
    const problem = `Cannot back up ${locationOf(storage).text}: ${why}`;
    return yield* new CommandFailed({ problem, namesStorages: true });
  }
  const secrets = yield* resolveSecrets({ config, storage });
  return yield* checkIdentity({ config, storage, secrets }, rootKey);
});

interface Restoring {
  readonly config: Config;
  readonly file: string;
  /** Whether data may be replaced. */
  readonly replace: boolean;
  /** Whether the storage acts again afterwards. */
  readonly resume: boolean;
  /** When the command ran; the name of the data that is kept has it. */
  readonly time: string;
}

const needsReplace = (storage: PersistentStorage) =>
  new CommandFailed({
    problem: `Cannot restore into ${locationOf(storage).text}: it holds data, expected an empty one, or --replace, which keeps the data beside it`,
    namesStorages: true,
  });

const restoreFolder = Effect.fnUntraced(function* (
  storage: OfKind<Storage, "embedded">,
  { config, file, replace, resume, time }: Restoring,
) {
  const { folder } = storage;
  const { rootKey } = yield* StorageSql.checkCopy(file);
  const secrets = yield* knownSecrets(config, folder);
  if (secrets !== null) yield* checkIdentity({ config, storage, secrets }, rootKey, `the backup "${file}"`);
  else if (resume) {
    return yield* new InvalidConfig({
      problem: `ACCOUNTLINK_SECRET is not set and data folder "${folder}" holds none, expected the secret of the backup, which --resume needs`,
    });
  }
  const isReplaced = !StorageSql.holdsNothing(folder);
  if (isReplaced && !replace) return yield* needsReplace(storage);
  yield* prepareFolder(config, folder);
  const kept = join(folder, `accountlink-${time}.db`);
  const state = yield* StorageSql.restoreEmbedded(file, folder, kept);
  return { ...state, kept: isReplaced ? kept : null, isSecretKnown: secrets !== null };
});

const restorePostgres = Effect.fnUntraced(function* (
  storage: OfKind<Storage, "postgres">,
  { config, file, replace, time }: Restoring,
) {
  const copy = yield* readDump(file);
  const secrets = yield* resolveSecrets({ config, storage });
  yield* checkIdentity({ config, storage, secrets }, copy.rootKey, `the backup "${file}"`);
  const options = { ...storage, connectTimeout } as const;
  const { schema, setAside } = yield* StoragePostgres.inspectPostgres(options);
  if (copy.version > schema.newest) {
    return yield* StorageSql.newerCopy(file, copy.version, schema.newest);
  }
  const isReplaced = schema.version > 0;
  if (isReplaced && !replace) return yield* needsReplace(storage);
  const [first] = yield* StoragePostgres.usersOf(options);
  if (first !== undefined) {
    return yield* new InvalidConfig({
      problem: `${first} uses ${locationOf(storage).text}, expected stopped servers`,
    });
  }
  const kept = isReplaced
    ? yield* StoragePostgres.setAside(options, `${StoragePostgres.asidePrefix}${time}`)
    : null;
  yield* restoreDump(file, storage.url).pipe(
    Effect.onError(() => Effect.ignore(kept === null ? Effect.void : kept.putBack)),
  );
  yield* StoragePostgres.restPostgres(options);
  const keptSchema = kept?.schema ?? setAside;
  return { ...copy, kept: keptSchema === null ? null : `schema ${keptSchema}`, isSecretKnown: true };
});

export const restoreCommand = single(
  "restore",
  {
    file: Argument.String("file").pipe(Argument.withDescription("A file that backup wrote")),
    replace: switchFlag("replace", "Restore over data, which is kept beside it under a name with the time"),
    resume: switchFlag("resume", "Let the restored storage act again, as accountlink resume does"),
  },
  function* ({ file, replace, resume }) {
    const { config, storage } = yield* copiedStorage("restore");
    const time = timeText(yield* Clock.currentTimeMillis);
    if (resume) yield* refuseResume(config);
    const restoring = { config, file, replace, resume, time };
    const restored =
      storage.kind === "embedded"
        ? yield* restoreFolder(storage, restoring)
        : yield* restorePostgres(storage, restoring);
    const { version, tables, isSecretKnown, kept } = restored;
    const records = rowsIn(tables);
    const { text, json } = locationOf(storage);
    const secretText =
      isSecretKnown || storage.kind !== "embedded"
        ? ""
        : `. Copy its secret to ${secretFile(storage.folder)}`;
    const keptText = kept === null ? "" : `. What was there is ${kept}`;
    const told = `Restored ${countOf(records, "record")} into ${text}${keptText}${secretText}`;
    const secret = isSecretKnown ? "fits" : "missing";
    const outcome = { ...json, schema: version, records, tables, secret, kept };
    const restText = "acts on nobody until: accountlink resume";
    if (!resume) return yield* answer({ ...outcome, resumed: false }, `${told}. It ${restText}`);
    const resumed = yield* Effect.flatMap(openStorage("refuse"), (opened) =>
      resumeStorage(opened, { isCompared: true, isDry: false }),
    ).pipe(
      // A repetition would restore again, and keep the restored data beside it.
      Effect.mapError((error) => {
        const { notes = [], problem, details } = failureOf(error, "Cannot resume");
        return new CommandFailed({
          notes: [told, ...notes],
          problem: `${problem}. What was restored ${restText}`,
          details: { ...outcome, resumed: false, ...details },
        });
      }),
    );
    yield* answer(
      { ...outcome, resumed: true, ...resumed.told },
      [...resumed.lines, `${told}. It acts again`].join("\n"),
    );
  },
).pipe(
  describe([
    "Put a backup into an empty storage, or with --replace in place of another, with the servers stopped. " +
      "Nothing changes unless the file is whole, of this release or an earlier one, and fits the secret.",
    "A restored storage acts on nobody until accountlink resume.",
  ]),
);

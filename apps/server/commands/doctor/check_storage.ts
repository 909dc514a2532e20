/** Checks the storage and its secret, without creating anything or disturbing a server. */
import { existsSync, statfsSync } from "node:fs";
import { type FoundStorage, refusalOf } from "@accountlink/core";
import { reasonOf } from "@accountlink/core/errors";
import { unwrapWithAny } from "@accountlink/core/secrets";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect, Result } from "effect";
import { formatCount } from "../../cli/output.ts";
import type { Config } from "../../config/config.ts";
import type { OfKind, PersistentStorage, Storage } from "../../config/resolved_config.ts";
import { folderExists, openToOthers } from "../../files/data_folder.ts";
import { redis, refusedDatabase } from "../../layers/store_layers.ts";
import { cryptoLayer } from "../../secrets/crypto_layer.ts";
import { identityOf, resolveSecrets, secretFile, secretRejected } from "../../secrets/deployment_secret.ts";
import { connectTimeout } from "../management_layer.ts";
import { checkClock } from "./check_clock.ts";
import { type Finding, fail, ok, promise, warn } from "./finding.ts";
import { redisAdvice } from "./redis_advice.ts";

export const checkStorage = Effect.fnUntraced(function* (config: Config, storage: Storage) {
  if (storage.kind === "memory") return [ok("database", "memory, which begins empty")];
  if (storage.kind === "postgres") {
    return yield* StoragePostgres.inspectPostgres({ ...storage, connectTimeout }).pipe(
      Effect.flatMap((state) =>
        Effect.map(
          judge(config, storage, `"${state.path}" on Postgres ${state.server}`, state),
          (findings) => [
            ...findings,
            ...(state.ownSchema === null && state.schema.version < state.schema.newest ? [noTables] : []),
            ...(state.isWritable ? [] : [readOnlyUser]),
            ...(state.setAside === null ? [] : [cutOffRestore(state.setAside)]),
            ...(state.isDiskFull ? [fail("database", "its disk is full", "Make room on it")] : []),
            ...(state.encoding === "UTF8" ? [] : [badEncoding(state.encoding)]),
            ...(state.isShared ? [sharedConnections] : []),
            ...checkClock("Postgres", state.clockLead),
          ],
        ),
      ),
      Effect.catchTag("DatabaseUnusable", ({ message }) =>
        unusable(
          message,
          message.includes(StoragePostgres.expectedOwner)
            ? ownAll
            : `Correct ${variable}, or start the database`,
        ),
      ),
    );
  }
  if (storage.kind === "redis") return yield* checkRedis(config, storage);
  const { folder } = storage;
  const exists = yield* Effect.result(folderExists(config, folder));
  if (Result.isFailure(exists)) {
    const { message } = exists.failure;
    return [fail("data folder", message, folderAdvice(message))];
  }
  if (!exists.success) return [promise("data folder", `"${folder}" will be made`)];
  const findings = yield* StorageSql.inspectEmbedded(folder).pipe(
    Effect.flatMap((state) =>
      state === null || state.tables.length === 0
        ? checkNew(config, storage)
        : judge(config, storage, `"${state.path}"`, state),
    ),
    Effect.catchTag("DatabaseUnusable", ({ message }) => unusable(message, fileAdvice(message))),
  );
  const secret = secretFile(folder);
  const modes = existsSync(secret) ? [checkMode("secret", secret, "600")] : [];
  return [checkMode("data folder", folder, "700"), ...modes, ...findings, checkSpace(folder)];
});

/** A secret beside a database that holds nothing is of one that was lost. */
const checkNew = (config: Config, storage: PersistentStorage) =>
  resolveSecretsOfLost(config, storage).pipe(
    Effect.as([promise("database")]),
    Effect.catchTag("InvalidConfig", ({ message }) =>
      Effect.succeed([
        fail("database", message, "Restore the database, or begin anew with accountlink serve --new"),
      ]),
    ),
  );

/** Makes no secret where none is. */
const resolveSecretsOfLost = (config: Config, storage: PersistentStorage) =>
  storage.kind === "embedded" && existsSync(secretFile(storage.folder))
    ? resolveSecrets({ config, storage })
    : Effect.void;

const variable = "ACCOUNTLINK_DATABASE_URL";

const unusable = (message: string, advice: string) => Effect.succeed([fail("database", message, advice)]);

const checkRedis = Effect.fnUntraced(function* (config: Config, storage: OfKind<Storage, "redis">) {
  const { StorageRedis } = yield* redis;
  return yield* StorageRedis.inspect(storage).pipe(
    Effect.flatMap(({ path, version, refusedWrite, risks, isHalfMoved, rootKey, rest, schema, clockLead }) =>
      Effect.gen(function* () {
        const it = `Redis ${version} at "${path}"`;
        return [
          refusedWrite === null
            ? ok("database", `${it} takes writes`)
            : fail("database", `${it} refuses writes: ${refusedWrite}`, redisAdvice(refusedWrite, variable)),
          ...(schema.version > schema.newest
            ? [fail("database", schemaText(it, schema), "Use a later release")]
            : []),
          ...stateFindings(it, { isHalfMoved, rest }),
          ...risks.map((risk) => warn("database", `${it} ${risk}`, "Set it in the configuration of Redis")),
          yield* checkRootKey(config, storage, rootKey),
          ...checkClock("Redis", clockLead),
        ];
      }),
    ),
    Effect.catchTag("RedisDatabaseRefused", ({ database }) =>
      unusable(refusedDatabase(database, variable), `Correct ${variable}`),
    ),
    Effect.catchTag("RedisUnusable", ({ message, reason }) =>
      unusable(message, redisAdvice(reason, variable)),
    ),
    Effect.catchTag("StoreUnavailable", (error) =>
      unusable(`Cannot use Redis: ${reasonOf(error)}`, redisAdvice(reasonOf(error), variable)),
    ),
    Effect.catchTag("InvalidRedisUrl", ({ message }) => unusable(message, `Correct ${variable}`)),
  );
});

const folderAdvice = (message: string): string => {
  if (/not a folder|ENOTDIR|EEXIST/.test(message)) return "Name a folder in ACCOUNTLINK_DATA_DIR";
  if (message.includes("EROFS"))
    return "Name a folder in ACCOUNTLINK_DATA_DIR that is not on a read-only file system";
  return "Run the doctor as the user of the server, or give that user the folder and its files";
};

const fileAdvice = (message: string): string =>
  /not a database|malformed/.test(message)
    ? "Restore it from a backup"
    : "Make room, or restore it from a backup";

const badEncoding = (encoding: string): Finding =>
  warn(
    "encoding",
    `${encoding}, which cannot store every name`,
    "Make a database with the encoding UTF8, and move the data",
  );

const noTables = fail(
  "database",
  "its user may not make tables, which the migrations do",
  "As its owner, run: GRANT CREATE ON SCHEMA public TO <user>",
);

const sharedConnections = warn(
  "pooler",
  "it gives each transaction another connection, so statements fail",
  "Set pool_mode = session in PgBouncer, or name Postgres itself",
);

const ownAll =
  "As the owner of the tables, let the user own the database: REASSIGN OWNED BY <owner> TO <user>";

const readOnlyUser = fail("database", "its user may not write all of its tables", ownAll);

interface State extends Omit<FoundStorage, "isHalfMoved"> {
  readonly schema: { readonly version: number; readonly newest: number };
  readonly tables: ReadonlyArray<string>;
  readonly damage?: ReadonlyArray<string>;
}

/** Whether the storage may be used, and whether it acts. */
const stateFindings = (it: string, found: Omit<FoundStorage, "rootKey">): ReadonlyArray<Finding> => {
  const { rest } = found;
  const refusal = refusalOf(found);
  if (refusal !== null) return [fail("database", `${it}: ${refusal}`, "Repeat the move")];
  if (rest === null) return [];
  return [
    warn(
      "database",
      `it was ${rest.reason} and acts on nobody since ${formatTimestamp(rest.since)}: role plans, reminders, log messages, webhooks and unfinished imports rest`,
      rest.reason.startsWith("moved to ")
        ? "Use that storage, or take this one back: accountlink resume"
        : "Run: accountlink resume, which first tells what role plans would change",
    ),
  ];
};

const cutOffRestore = (aside: string): Finding =>
  fail("database", StoragePostgres.cutOff(aside), "Repeat: accountlink restore FILE");

const schemaText = (it: string, { version, newest }: State["schema"]): string =>
  `${it} has schema version ${version}, and this release has ${newest}`;

const judge = Effect.fnUntraced(function* (
  config: Config,
  storage: PersistentStorage,
  it: string,
  { schema: { version, newest }, tables, rootKey, rest, damage = [] }: State,
) {
  const found = schemaText(it, { version, newest });
  const old = StorageSql.upgradeThrough(version);
  const database =
    version > newest
      ? fail("database", found, "Use a later release")
      : old === null
        ? ok("database", found)
        : fail("database", `${it}: ${old}`, "Start the commit on it, then this release");
  const expected = version === newest ? yield* StorageSql.releaseTables : [];
  const missing = expected.filter((name) => !tables.includes(name)).map((name) => `it has no table ${name}`);
  const damages = [...damage, ...missing].map((text) => fail("database", text, "Restore it from a backup"));
  return [
    database,
    ...damages,
    ...stateFindings(it, { isHalfMoved: tables.includes("moving"), rest }),
    yield* checkRootKey(config, storage, rootKey),
  ];
});

const checkRootKey = (config: Config, storage: PersistentStorage, wrapped: string | null) =>
  resolveSecrets({ config, storage }).pipe(
    Effect.flatMap((secrets) =>
      wrapped === null
        ? Effect.succeed(promise("root key"))
        : Effect.gen(function* () {
            const { wrappedBy } = yield* unwrapWithAny(wrapped, secrets);
            const deployment = yield* identityOf(wrapped, secrets);
            return { ...judgeRotation(secrets.length > 1, wrappedBy > 0), deployment };
          }),
    ),
    Effect.catchTag("SecretRejected", () => secretRejected(config, storage)),
    Effect.catchTag("InvalidConfig", ({ message }) =>
      Effect.succeed(
        fail(
          "root key",
          message,
          message.includes("cannot be read")
            ? "Set ACCOUNTLINK_SECRET, or let the user of the server read its file"
            : "Set ACCOUNTLINK_SECRET, or restore the secret from a backup",
        ),
      ),
    ),
    Effect.provide(cryptoLayer),
  );

const judgeRotation = (hasOld: boolean, byOld: boolean): Finding => {
  if (!hasOld) return ok("root key", "the secret unwraps it");
  return byOld
    ? warn("root key", "the old secret unwraps it", "Run: accountlink secrets rotate")
    : warn("root key", "the new secret unwraps it, and the old one is not needed", "Remove the old secret");
};

const checkMode = (check: string, path: string, right: string): Finding => {
  const problem = openToOthers(path);
  return problem === null
    ? ok(check, `"${path}" is closed to others`)
    : warn(check, problem, `Run: chmod ${right} "${path}"`);
};

const checkSpace = (folder: string): Finding => {
  const { bavail, bsize } = statfsSync(folder);
  const free = Math.floor((bavail * bsize) / 1024 ** 2);
  const finding = `${formatCount(free)} MiB free`;
  if (free >= 1_024) return ok("disk", finding);
  return free < 64 ? fail("disk", finding, "Make room") : warn("disk", finding, "Make room");
};

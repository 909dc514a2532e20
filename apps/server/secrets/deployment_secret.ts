/**
 * The secret of the deployment, which unwraps the root key, and the keys derived from the root key. During a rotation
 * there are two secrets: the new and the old one.
 */
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { AddressVault, type FoundStorage, refusalOf, StorageCheck, StorageRefused } from "@accountlink/core";
import { reasonOf } from "@accountlink/core/errors";
import {
  type DeploymentSecrets,
  RootKey,
  rotateSecret,
  Secrets,
  unwrapWithAny,
} from "@accountlink/core/secrets";
import { StorageSql } from "@accountlink/sql";
import { Effect, Layer, Option, Redacted, Stream } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64 } from "effect/encoding";
import { type Config, InvalidConfig, missing } from "../config/config.ts";
import {
  locationOf,
  type PersistentStorage,
  type ResolvedConfig,
  type Storage,
} from "../config/resolved_config.ts";
import { parseSecrets } from "../config/variables.ts";
import { writeAtomically, writeIfAbsent } from "../files/atomic_write.ts";
import { prepareFolder, unusableFolder } from "../files/data_folder.ts";
import { cryptoLayer } from "./crypto_layer.ts";

const generate = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom;
  return Redacted.make(yield* random.randomBytes(32));
});

/** The secret file of a data folder, in the format of `ACCOUNTLINK_SECRET`. */
export const secretFile = (folder: string): string => join(folder, "secret");

/**
 * Marks a data folder whose database holds nothing yet, from before its secret is made until the database has a root
 * key. So an interrupted first start is not taken for a lost database.
 */
const newFile = (folder: string): string => join(folder, "new");

/** Lets a start begin anew in a data folder that lost its database. */
export const allowNew = Effect.fnUntraced(function* (config: Config, folder: string) {
  yield* prepareFolder(config, folder);
  yield* Effect.mapError(writeIfAbsent(newFile(folder), ""), unusableFolder(config));
});

/**
 * Refuses a secret beside a database that holds nothing: the database was lost, or a restored backup is empty. The mark
 * is read first, since another process may remove it once its database has a root key.
 */
const refuseLostDatabase = (folder: string): Effect.Effect<void, InvalidConfig> =>
  Effect.suspend(() => {
    if (existsSync(newFile(folder)) || !StorageSql.holdsNothing(folder)) return Effect.void;
    return new InvalidConfig({
      problem:
        `data folder "${folder}" holds a secret, but its database is missing or empty, expected the ` +
        `database of the secret (accountlink restore), or serve --new to begin anew`,
    });
  });

/**
 * Returns the configured secret. Without one, memory storage generates a secret, and the embedded storage uses the
 * secret file of its data folder, which is generated before the database. A database without its secret is refused,
 * since none of its keys would work. Postgres and Redis need a configured secret: all nodes need the same one, and a secret in
 * the database would not protect it.
 */
export const resolveSecrets = Effect.fn("resolveSecrets")(function* ({
  config,
  storage,
}: Pick<ResolvedConfig, "config" | "storage">) {
  const { ACCOUNTLINK_SECRET: configured } = config;
  if (storage.kind === "memory") return configured ?? ([yield* generate] as const);
  if (storage.kind !== "embedded") {
    if (configured !== null) return configured;
    const reason = `ACCOUNTLINK_STORAGE is ${storage.kind}; the same for every node`;
    return yield* missing("ACCOUNTLINK_SECRET", reason);
  }
  const file = secretFile(storage.folder);
  const known = yield* knownSecrets(config, storage.folder);
  if (existsSync(file)) yield* refuseLostDatabase(storage.folder);
  if (known !== null) return known;
  if (StorageSql.hasDatabase(storage.folder)) {
    return yield* new InvalidConfig({
      problem:
        `ACCOUNTLINK_SECRET is not set and data folder "${storage.folder}" holds none, ` +
        `expected the secret that its database was made with`,
    });
  }
  if (config.ACCOUNTLINK_DEPLOYMENT !== null) return yield* emptyStorage(config, storage);
  const secret = yield* generate;
  yield* allowNew(config, storage.folder);
  const text = `${Base64.encode(Redacted.value(secret))}\n`;
  yield* Effect.mapError(writeIfAbsent(file, text), unusableFolder(config));
  // Another process may have written the file first.
  return yield* readSecrets(file);
});

/** Returns the configured secret, or else the data folder's; null without either. */
export const knownSecrets = ({ ACCOUNTLINK_SECRET: configured }: Config, folder: string) => {
  if (configured !== null) return Effect.succeed(configured);
  return existsSync(secretFile(folder)) ? readSecrets(secretFile(folder)) : Effect.succeed(null);
};

const readSecrets = Effect.fnUntraced(function* (file: string) {
  const content = yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (cause) =>
      new InvalidConfig({
        problem: `secret file "${file}" cannot be read (${reasonOf(cause)}), expected one that the user of this process may read`,
      }),
  });
  const secrets = parseSecrets(content);
  if (Option.isNone(secrets)) {
    return yield* new InvalidConfig({
      problem: `secret file "${file}" is damaged, expected 32 or more bytes in base64`,
    });
  }
  return secrets.value;
});

/** A storage with the secrets that have to fit it. */
export interface OpenedWith {
  readonly config: Config;
  readonly storage: PersistentStorage;
  readonly secrets: DeploymentSecrets;
}

/**
 * Wraps the root key with the newest configured secret. If no secret is configured, generates a new one in the data
 * folder and wraps the root key with it. Returns false if the newest secret already wrapped the root key.
 */
export const rotateDeploymentSecret = ({ config, storage, secrets }: OpenedWith) =>
  config.ACCOUNTLINK_SECRET === null && storage.kind === "embedded"
    ? Effect.as(rotateSecretFile(config, storage.folder), true)
    : rotateSecret(secrets);

/**
 * The file contains both secrets while the root key is rewrapped, so that an interruption loses neither. A file with
 * two secrets comes from an interrupted rotation, which is resumed.
 */
const rotateSecretFile = Effect.fnUntraced(function* (config: Config, folder: string) {
  const file = secretFile(folder);
  // Concurrent rotations could leave a secret in the file that does not unwrap the root key.
  yield* StorageSql.acquireFolderLock(folder, "secret");
  const [newest, ...older] = yield* readSecrets(file);
  const secrets: DeploymentSecrets = older.length > 0 ? [newest, ...older] : [yield* generate, newest];
  const write = (...kept: DeploymentSecrets) => {
    const text = kept.map((secret) => Base64.encode(Redacted.value(secret))).join(",");
    return Effect.mapError(
      writeAtomically(file, Stream.make(`${text}\n`), "replace"),
      unusableFolder(config),
    );
  };
  yield* write(...secrets);
  yield* rotateSecret(secrets);
  yield* write(secrets[0]);
}, Effect.scoped);

/** Fails if the secret does not unwrap the storage's root key, or if the storage is not the configured deployment. */
export const deploymentKeysLayer = (config: Config, storage: Storage, secrets: DeploymentSecrets) =>
  Layer.merge(
    addressVaultLayer(config),
    Layer.effectDiscard(Effect.flatMap(Secrets, ({ deploymentId }) => checkDeployment(config, deploymentId))),
  ).pipe(Layer.provideMerge(Secrets.layer), Layer.provideMerge(rootKeyLayer(config, storage, secrets)));

/** @param of the storage or the file with the deployment `found`, such as `the backup "links.db"` */
const checkDeployment = ({ ACCOUNTLINK_DEPLOYMENT: expected }: Config, found: string, of = "the storage") =>
  expected === null || expected === found
    ? Effect.void
    : new InvalidConfig({
        problem: `ACCOUNTLINK_DEPLOYMENT is "${expected}", but ${of} is of deployment "${found}", expected the one that is named`,
      });

/**
 * Returns the identity of the deployment with a wrapped root key. Fails if the secret does not unwrap it, or if it is not
 * the configured deployment.
 *
 * @param of what holds the root key, such as `the backup "links.db"`; by default the storage
 */
export const checkIdentity = (
  { config, storage, secrets }: OpenedWith,
  wrapped: string,
  of?: string,
): Effect.Effect<string, InvalidConfig> =>
  identityOf(wrapped, secrets).pipe(
    Effect.tap((deploymentId) => checkDeployment(config, deploymentId, of)),
    Effect.catchTag("SecretRejected", () => secretRejected(config, storage, of)),
    Effect.provide(cryptoLayer),
  );

/** Judges a storage before anything is written to it: by its state, the secret and the deployment. */
const judged = Effect.fnUntraced(function* (opened: OpenedWith, found: FoundStorage) {
  const { config, storage } = opened;
  const refusal = refusalOf(found);
  if (refusal !== null)
    return yield* new InvalidConfig({ problem: `${locationOf(storage).text} cannot be used: ${refusal}` });
  if (found.rootKey !== null) return yield* Effect.asVoid(checkIdentity(opened, found.rootKey));
  if (config.ACCOUNTLINK_DEPLOYMENT !== null) return yield* emptyStorage(config, storage);
});

const emptyStorage = ({ ACCOUNTLINK_DEPLOYMENT: expected }: Config, storage: PersistentStorage) =>
  new InvalidConfig({
    problem: `ACCOUNTLINK_DEPLOYMENT is "${expected}", but ${locationOf(storage).text} is empty, expected the storage of that deployment`,
  });

/** Opens a storage only if it may be used. */
export const checked =
  (opened: OpenedWith) =>
  <A, E, R>(opening: Effect.Effect<A, E | StorageRefused, R>): Effect.Effect<A, E | InvalidConfig, R> =>
    opening.pipe(
      Effect.provideService(StorageCheck, (found) =>
        Effect.mapError(judged(opened, found), ({ problem }) => new StorageRefused({ reason: problem })),
      ),
      Effect.catchIf(
        (error): error is StorageRefused => error instanceof StorageRefused,
        ({ reason }) => new InvalidConfig({ problem: reason }),
      ),
    ) as Effect.Effect<A, E | InvalidConfig, R>;

// Memory storage stores no root key, so the secret of the deployment is used as the root key. Then servers that share a
// Redis and a secret derive the same keys.
const rootKeyLayer = (config: Config, storage: Storage, secrets: DeploymentSecrets) =>
  storage.kind === "memory"
    ? Layer.succeed(RootKey, secrets[0])
    : RootKey.layer(secrets).pipe(
        Layer.tap(() => forgetNew(storage)),
        Layer.catchTag("SecretRejected", () => Layer.effect(RootKey, secretRejected(config, storage))),
      );

const forgetNew = (storage: PersistentStorage) =>
  storage.kind === "embedded"
    ? Effect.promise(() => rm(newFile(storage.folder), { force: true }).catch(() => {}))
    : Effect.void;

/** The ID of the address key that is derived from the root key. */
const derivedKeyId = "secret";

/**
 * Provides the vault that encrypts the addresses in sightings. The configured address keys come first. The derived key
 * comes last, since older sightings may be encrypted with it.
 */
const addressVaultLayer = ({ ACCOUNTLINK_ADDRESS_KEYS: configured }: Config) =>
  Layer.unwrap(
    Effect.map(RootKey, (rootKey) => {
      const keys = new Map(configured);
      if (!keys.has(derivedKeyId)) keys.set(derivedKeyId, rootKey);
      return AddressVault.layer(keys);
    }),
  );

/** Returns the identity of the deployment with a wrapped root key, as `/readyz` tells it. */
export const identityOf = Effect.fnUntraced(function* (wrapped: string, secrets: DeploymentSecrets) {
  const { rootKey } = yield* unwrapWithAny(wrapped, secrets);
  const derived = Layer.provide(Secrets.layer, Layer.succeed(RootKey, rootKey));
  return yield* Effect.map(Effect.provide(Secrets, derived), ({ deploymentId }) => deploymentId);
});

/** @param of what another secret was used for, such as `file "backup.db"`; by default the storage */
export const secretRejected = (
  { ACCOUNTLINK_SECRET }: Config,
  storage: PersistentStorage,
  of = locationOf(storage).text,
): InvalidConfig => {
  const given =
    ACCOUNTLINK_SECRET === null && storage.kind === "embedded"
      ? `ACCOUNTLINK_SECRET is not set, and "${secretFile(storage.folder)}" does not hold the secret`
      : "ACCOUNTLINK_SECRET is not the secret";
  const problem = `${given} of ${of}, expected the one that it was made with or last rotated to`;
  return new InvalidConfig({ problem });
};

/** Finds or generates the secret of the deployment. During a rotation there are two: the new and the old secret. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type DeploymentSecrets, rotateSecret } from "@accountlink/core/secrets";
import { StorageSql } from "@accountlink/sql";
import { Effect, Option, Redacted, Stream } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64 } from "effect/encoding";
import { type Config, InvalidConfig, missing } from "../config/config.ts";
import type { PersistentStorage, ResolvedConfig } from "../config/resolved_config.ts";
import { parseSecrets } from "../config/variables.ts";
import { writeAtomically, writeIfAbsent } from "../files/atomic_write.ts";
import { prepareFolder, unusableFolder } from "../files/data_folder.ts";
import { reasonOf } from "../message_text.ts";

const generate = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom;
  return Redacted.make(yield* random.randomBytes(32));
});

/** The secret file of a data folder, in the format of `ACCOUNTLINK_SECRET`. */
export const secretFile = (folder: string): string => join(folder, "secret");

/**
 * Returns the configured secret. Without one, memory storage generates a secret, and the embedded storage uses the
 * secret file of its data folder, which is generated before the database. A database without its secret is refused,
 * since none of its keys would work. Postgres needs a configured secret: all nodes need the same one, and a secret in
 * the database would not protect it.
 */
export const resolveSecrets = Effect.fn("resolveSecrets")(function* ({
  config,
  storage,
}: Pick<ResolvedConfig, "config" | "storage">) {
  if (config.ACCOUNTLINK_SECRET !== null) return config.ACCOUNTLINK_SECRET;
  if (storage.kind === "memory") return [yield* generate] as const;
  if (storage.kind === "postgres") {
    return yield* missing("ACCOUNTLINK_SECRET", "ACCOUNTLINK_STORAGE is postgres; the same for every node");
  }
  const file = secretFile(storage.folder);
  if (existsSync(file)) return yield* readSecrets(file);
  if (StorageSql.hasDatabase(storage.folder)) {
    return yield* new InvalidConfig({
      problem: `ACCOUNTLINK_SECRET is not set and data folder "${storage.folder}" holds none, expected the secret that its database was made with`,
    });
  }
  const secret = yield* generate;
  yield* prepareFolder(config, storage.folder);
  yield* writeIfAbsent(file, `${Base64.encode(Redacted.value(secret))}\n`).pipe(
    Effect.mapError((cause) => unusableFolder(config, cause)),
  );
  // Another process may have written the file first.
  return yield* readSecrets(file);
});

const readSecrets = Effect.fnUntraced(function* (file: string) {
  const content = yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (cause) =>
      new InvalidConfig({ problem: `secret file "${file}" cannot be read: ${reasonOf(cause)}` }),
  });
  const secrets = parseSecrets(content);
  if (Option.isNone(secrets)) {
    return yield* new InvalidConfig({
      problem: `secret file "${file}" is damaged, expected 32 or more bytes in base64`,
    });
  }
  return secrets.value;
});

interface Rotated {
  readonly config: Config;
  readonly storage: PersistentStorage;
  readonly secrets: DeploymentSecrets;
}

/**
 * Wraps the root key with the newest configured secret. If no secret is configured, generates a new one in the data
 * folder and wraps the root key with it. Returns false if the newest secret already wrapped the root key.
 */
export const rotateDeploymentSecret = ({ config, storage, secrets }: Rotated) =>
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
    return Effect.mapError(writeAtomically(file, Stream.make(`${text}\n`), "replace"), (cause) =>
      unusableFolder(config, cause),
    );
  };
  yield* write(...secrets);
  yield* rotateSecret(secrets);
  yield* write(secrets[0]);
}, Effect.scoped);

/**
 * The rotation of the deployment's secret.
 */
import { type DeploymentSecrets, rotateSecret } from "@accountlink/core";
import { StorageSql } from "@accountlink/storage-sql";
import { Effect, Redacted, Stream } from "effect";
import { Base64 } from "effect/encoding";
import type { Config } from "./config.ts";
import { unusableFolder } from "./internal/prepare_folder.ts";
import { writeWhole } from "./internal/write_whole.ts";
import type { OpenedStorage } from "./management.ts";
import { generate, readSecrets, secretFile } from "./secret.ts";

/**
 * Wraps the root key with the newest of the configured secrets, and tells whether it was wrapped with another one. A data
 * folder that holds its own secret gets a new one.
 */
export const rotateDeploymentSecret = ({ config, storage, secrets }: OpenedStorage) =>
  config.ACCOUNTLINK_SECRET === null && storage.kind === "embedded"
    ? Effect.as(rotateSecretFile(config, storage.folder), true)
    : rotateSecret(secrets);

/**
 * The file holds both secrets while the root key is wrapped anew, so that it holds the right one whenever this is cut off.
 * A file that holds two is left by a rotation that was, which is resumed.
 */
const rotateSecretFile = Effect.fnUntraced(function* (config: Config, folder: string) {
  const file = secretFile(folder);
  // Two rotations at once could each leave a secret in the file that the other one has replaced in the database.
  yield* StorageSql.acquireFolderLock(folder, "secret");
  const [newest, ...older] = yield* readSecrets(file);
  const secrets: DeploymentSecrets = older.length > 0 ? [newest, ...older] : [yield* generate, newest];
  const write = (...kept: DeploymentSecrets) => {
    const text = kept.map((secret) => Base64.encode(Redacted.value(secret))).join(",");
    return Effect.mapError(writeWhole(file, Stream.make(`${text}\n`), "replace"), (cause) =>
      unusableFolder(config, cause),
    );
  };
  yield* write(...secrets);
  yield* rotateSecret(secrets);
  yield* write(secrets[0]);
}, Effect.scoped);

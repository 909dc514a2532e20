import { type DeploymentSecrets, rotateSecret } from "@accountlink/core/secrets";
import { StorageSql } from "@accountlink/sql";
import { Effect, Redacted, Stream } from "effect";
import { Base64 } from "effect/encoding";
import type { Config } from "../config/config.ts";
import type { PersistentStorage } from "../config/storage_location.ts";
import { writeAtomically } from "../files/atomic_write.ts";
import { unusableFolder } from "../files/data_folder.ts";
import { generate, readSecrets, secretFile } from "./deployment_secret.ts";

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

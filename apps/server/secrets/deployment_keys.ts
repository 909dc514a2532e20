/** The keys of the deployment: the root key, which the secret unwraps, and keys derived from it. */
import { AddressVault } from "@accountlink/core";
import { type DeploymentSecrets, RootKey, Secrets } from "@accountlink/core/secrets";
import { Effect, Layer } from "effect";
import { type Config, InvalidConfig } from "../config/config.ts";
import { locationOf, type PersistentStorage, type Storage } from "../config/resolved_config.ts";
import { secretFile } from "./deployment_secret.ts";

/** Fails if the secret does not unwrap the storage's root key. */
export const deploymentKeysLayer = (config: Config, storage: Storage, secrets: DeploymentSecrets) =>
  Layer.merge(Secrets.layer, addressVaultLayer(config)).pipe(
    Layer.provide(rootKeyLayer(config, storage, secrets)),
  );

// Memory storage stores no root key, so the secret of the deployment is used as the root key. Then servers that share a
// Redis and a secret derive the same keys.
const rootKeyLayer = (config: Config, storage: Storage, secrets: DeploymentSecrets) =>
  storage.kind === "memory"
    ? Layer.succeed(RootKey, secrets[0])
    : RootKey.layer(secrets).pipe(
        Layer.catchTag("SecretRejected", () => Layer.effect(RootKey, secretRejected(config, storage))),
      );

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

export const secretRejected = ({ ACCOUNTLINK_SECRET }: Config, storage: PersistentStorage): InvalidConfig => {
  const given =
    ACCOUNTLINK_SECRET === null && storage.kind === "embedded"
      ? `ACCOUNTLINK_SECRET is not set, and "${secretFile(storage.folder)}" does not hold the secret`
      : "ACCOUNTLINK_SECRET is not the secret";
  const problem = `${given} of ${locationOf(storage).text}, expected the one that it was made with or last rotated to`;
  return new InvalidConfig({ problem });
};

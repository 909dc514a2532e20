/**
 * The keys of the deployment: the root key, which the secret unwraps, and what is derived from it.
 */
import { AddressVault, type DeploymentSecrets, RootKey, Secrets } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { type Config, InvalidConfig } from "./config.ts";
import { type LastingStorage, placeOf } from "./place.ts";
import type { Storage } from "./plan.ts";
import { secretFile } from "./secret.ts";

/** `Secrets` and `AddressVault`. A secret that does not unwrap the root key of the storage is refused. */
export const deploymentKeysLayer = (config: Config, storage: Storage, secrets: DeploymentSecrets) =>
  Layer.merge(Secrets.layer, addressVaultLayer(config)).pipe(
    Layer.provide(rootKeyLayer(config, storage, secrets)),
  );

// Memory keeps no root key. The secret takes its place, so that servers that share a Redis name addresses alike.
const rootKeyLayer = (config: Config, storage: Storage, secrets: DeploymentSecrets) =>
  storage.kind === "memory"
    ? Layer.succeed(RootKey, secrets[0])
    : RootKey.layer(secrets).pipe(
        Layer.catchTag("SecretRejected", () => Layer.effect(RootKey, secretRejected(config, storage))),
      );

/** Under this id the first sightings were protected, with a key derived from the secret. */
const derivedKeyId = "secret";

/** The configured address keys, and last the one derived from the root key: sightings may be older than the others. */
const addressVaultLayer = ({ ACCOUNTLINK_ADDRESS_KEYS: configured }: Config) =>
  Layer.unwrap(
    Effect.map(RootKey, (rootKey) => {
      const keys = new Map(configured);
      if (!keys.has(derivedKeyId)) keys.set(derivedKeyId, rootKey);
      return AddressVault.layer(keys);
    }),
  );

/** The refusal of a secret that does not unwrap the root key of the storage. */
export const secretRejected = ({ ACCOUNTLINK_SECRET }: Config, storage: LastingStorage): InvalidConfig => {
  const given =
    ACCOUNTLINK_SECRET === null && storage.kind === "embedded"
      ? `ACCOUNTLINK_SECRET is not set, and "${secretFile(storage.folder)}" does not hold the secret`
      : "ACCOUNTLINK_SECRET is not the secret";
  const problem = `${given} of ${placeOf(storage).text}, expected the one that it was made with or last rotated to`;
  return new InvalidConfig({ problem });
};

/** Checks whether the secret unwraps the root key. */
import { type DeploymentSecrets, Secrets, unwrapWithAny } from "@accountlink/core/secrets";
import { Effect } from "effect";
import type { Config } from "../../config/config.ts";
import { storageOf } from "../../config/resolved_config.ts";
import type { PersistentStorage } from "../../config/storage_location.ts";
import { cryptoLayer } from "../../layers/crypto_layer.ts";
import { secretRejected } from "../../secrets/deployment_keys.ts";
import { resolveSecrets } from "../../secrets/deployment_secret.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** @param state the state of the storage; null if it could not be read or does not exist yet */
export const checkRootKey = Effect.fnUntraced(function* (
  config: Config,
  storage: PersistentStorage,
  secrets: DeploymentSecrets,
  state: { readonly rootKey: string | null } | null,
) {
  if (state === null) return [];
  if (state.rootKey === null) return [ok("root key", "there is none yet, and one will be made")];
  const finding = yield* unwrapWithAny(state.rootKey, secrets).pipe(
    Effect.map(({ wrappedBy }): Finding => {
      if (secrets.length === 1) return ok("root key", "the secret unwraps it");
      return wrappedBy === 0
        ? warn(
            "root key",
            "the new secret unwraps it, and the old one is not needed",
            "Remove the old secret",
          )
        : warn("root key", "the old secret unwraps it", "Run: accountlink secrets rotate");
    }),
    Effect.catchTag("SecretRejected", () =>
      Effect.succeed(
        fail(
          "root key",
          secretRejected(config, storage).problem,
          "Set the right ACCOUNTLINK_SECRET, or restore the secret from a backup",
        ),
      ),
    ),
    Effect.provide(cryptoLayer),
  );
  return [finding];
});

/**
 * The deployment's id in `/readyz`, or null if its root key is unknown.
 *
 * @param wrapped the wrapped root key of the storage; null if it has none
 */
export const deploymentIdOf = Effect.fnUntraced(
  function* (config: Config, wrapped: string | null) {
    const storage = yield* storageOf(config);
    // With memory storage the secret is the root key, and is generated if none is configured.
    if (wrapped === null && (storage.kind !== "memory" || config.ACCOUNTLINK_SECRET === null)) return null;
    const secrets = yield* resolveSecrets({ config, storage });
    const rootKey = wrapped === null ? secrets[0] : (yield* unwrapWithAny(wrapped, secrets)).rootKey;
    return yield* Effect.provide(
      Effect.map(Secrets, ({ deploymentId }) => deploymentId),
      Secrets.layerWebCrypto(rootKey),
    );
  },
  Effect.provide(cryptoLayer),
  Effect.catchTag(["InvalidConfig", "SecretRejected"], () => Effect.succeed(null)),
);

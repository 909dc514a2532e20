/**
 * The doctor tries the secret on the root key of a storage.
 */
import { type DeploymentSecrets, Secrets, unwrapWithAny } from "@accountlink/core";
import { Effect } from "effect";
import type { Config } from "../config.ts";
import { secretRejected } from "../deployment_keys.ts";
import type { LastingStorage } from "../place.ts";
import { storageOf } from "../plan.ts";
import { resolveSecrets } from "../secret.ts";
import { cryptoLayer } from "./crypto.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** @param state what was found in the storage; null when it could not be read, or there is none yet */
export const checkRootKey = Effect.fnUntraced(function* (
  config: Config,
  storage: LastingStorage,
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
 * What servers of this deployment name it in `/readyz`. Null when its root key is not known.
 *
 * @param wrapped the root key as the storage keeps it; null when it keeps none
 */
export const deploymentIdOf = Effect.fnUntraced(
  function* (config: Config, wrapped: string | null) {
    const storage = yield* storageOf(config);
    // A server in memory has its secret for a root key, and makes one when it is given none.
    if (wrapped === null && (storage.kind !== "memory" || config.ACCOUNTLINK_SECRET === null)) return null;
    const secrets = yield* resolveSecrets({ config, storage });
    const rootKey = wrapped === null ? secrets[0] : (yield* unwrapWithAny(wrapped, secrets)).rootKey;
    return yield* Effect.provide(
      Effect.map(Secrets, ({ deploymentId }) => deploymentId),
      Secrets.layerWebCrypto(rootKey),
    );
  },
  Effect.provide(cryptoLayer),
  Effect.catchTags({
    InvalidConfig: () => Effect.succeed(null),
    SecretRejected: () => Effect.succeed(null),
  }),
);

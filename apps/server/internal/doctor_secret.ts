/**
 * The doctor tries the secret on the root key of a storage.
 */
import { type DeploymentSecrets, unwrapWithAny } from "@accountlink/core";
import { Effect } from "effect";
import type { Config } from "../config.ts";
import { secretRejected } from "../deployment_keys.ts";
import type { LastingStorage } from "../place.ts";
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

/**
 * Every key of the deployment is derived from the root key. The store keeps the root key encrypted ("wrapped") with the
 * deployment's secret, so that the secret can be checked, and rotated without changing a key.
 */
import { Context, Data, Effect, Layer, Option, Redacted } from "effect";
import { Aead, type Kdf, SecureRandom } from "effect/crypto";
import { Base64 } from "effect/encoding";
import type { StoreEffect, StoreUnavailable } from "../errors.ts";
import { StorageFault } from "../storage_state.ts";
import { deriveKey, makeSealing } from "./crypto.ts";

/** Stores the single wrapped root key of a deployment. Every operation is atomic. */
export class RootKeyStore extends Context.Service<
  RootKeyStore,
  {
    /** Returns the root key; null before `adopt`. */
    readonly find: () => StoreEffect<string | null>;

    /** Stores a root key unless the store has one, and returns the stored key. */
    readonly adopt: (wrapped: string) => StoreEffect<string>;

    /** Replaces the root key if it equals `expected`, and returns whether it did. */
    readonly replace: (expected: string, next: string) => StoreEffect<boolean>;
  }
>()("@accountlink/core/RootKeyStore") {}

/** Secrets of 32 or more random bytes: the newest, and during a rotation the previous one. */
export type DeploymentSecrets = readonly [newest: Bytes, ...older: ReadonlyArray<Bytes>];

type Bytes = Redacted.Redacted<Uint8Array>;

/** No secret unwraps the root key of the store, or the root key is damaged. */
export class SecretRejected extends Data.TaggedError("SecretRejected")<{}> {
  readonly code = "SECRET_REJECTED";
  readonly details = null;
  override readonly message =
    "Cannot open the store: the secret is another one, expected the one that the store was made with or last rotated to";
}

type Crypto = Aead.Aead | Kdf.Kdf | SecureRandom.SecureRandom;
type RootKeyError = SecretRejected | StoreUnavailable;

/** The root key, 32 or more bytes. */
export class RootKey extends Context.Service<RootKey, Bytes>()("@accountlink/core/RootKey") {
  /**
   * Reads the root key of the store, or creates a random one in a new store. From then on, a storage without this root
   * key has a fault.
   */
  static readonly layer = (
    secrets: DeploymentSecrets,
  ): Layer.Layer<RootKey, RootKeyError, RootKeyStore | Crypto> =>
    Layer.effectContext(
      Effect.map(
        Effect.all([openRootKey(secrets), StorageFault, Effect.context<RootKeyStore | Crypto>()]),
        ([{ rootKey, wrapped }, known, services]) =>
          Context.make(RootKey, rootKey).pipe(
            Context.add(
              StorageFault,
              Effect.flatMap(known, (fault) =>
                fault === null ? otherRootKey(rootKey, wrapped, secrets) : Effect.succeed(fault),
              ).pipe(Effect.provideContext(services)),
            ),
          ),
      ),
    );
}

/**
 * Returns why the store is not the one with this root key; null if it is. A root key that no secret unwraps counts as
 * the same one: a rotation may have wrapped it with a secret that this process lacks.
 */
const otherRootKey = Effect.fnUntraced(function* (
  rootKey: Bytes,
  wrapped: string,
  secrets: DeploymentSecrets,
) {
  const found = yield* (yield* RootKeyStore).find();
  if (found === wrapped) return null;
  if (found === null) return "it is empty, expected the storage of the start";
  const other = yield* Effect.option(unwrapWithAny(found, secrets));
  if (Option.isNone(other)) return null;
  return Base64.encode(Redacted.value(other.value.rootKey)) === Base64.encode(Redacted.value(rootKey))
    ? null
    : "it is another one than at the start";
});

/** Returns the root key of the store, its wrapped text, and the index of the secret that wrapped it. */
const openRootKey = Effect.fnUntraced(function* (secrets: DeploymentSecrets) {
  const store = yield* RootKeyStore;
  const random = yield* SecureRandom.SecureRandom;
  // Wrap with the oldest secret: nodes that do not have the newest secret yet must be able to start.
  const oldest = secrets.at(-1) ?? secrets[0];
  const made = Redacted.make(yield* random.randomBytes(32));
  const wrapped = yield* store.adopt(yield* wrapRootKey(made, oldest));
  return { wrapped, ...(yield* unwrapWithAny(wrapped, secrets)) };
});

/** Unwraps a root key with one of the secrets. @returns the key and the index of the secret @internal */
export const unwrapWithAny = Effect.fnUntraced(function* (wrapped: string, secrets: DeploymentSecrets) {
  for (const [wrappedBy, secret] of secrets.entries()) {
    const rootKey = yield* unwrapRootKey(wrapped, secret);
    if (Option.isSome(rootKey)) return { rootKey: rootKey.value, wrappedBy };
  }
  return yield* new SecretRejected();
});

/**
 * Wraps the root key of the store with the newest secret. Running processes are not affected.
 *
 * @returns whether the root key had been wrapped with another secret before
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/memory";
 * import { Effect, Layer, Redacted } from "effect";
 * import { Aead, Kdf, SecureRandom } from "effect/crypto";
 *
 * const before = Redacted.make(crypto.getRandomValues(new Uint8Array(32)));
 * const after = Redacted.make(crypto.getRandomValues(new Uint8Array(32)));
 * const program = Effect.gen(function* () {
 *   const rootKey = RootKey.layer([before]);
 *   yield* Effect.provide(RootKey, rootKey);
 *   yield* rotateSecret([after, before]);
 *   return yield* Effect.flip(Effect.provide(RootKey, Layer.fresh(rootKey)));
 * });
 * const store = Layer.mergeAll(StorageMemory.layer, Aead.layerWebCrypto, Kdf.layerWebCrypto);
 * const layer = Layer.provideMerge(store, SecureRandom.layerWebCrypto);
 * (await Effect.runPromise(Effect.provide(program, layer))) instanceof SecretRejected; // true
 * ```
 */
export const rotateSecret = (
  secrets: DeploymentSecrets,
): Effect.Effect<boolean, RootKeyError, RootKeyStore | Crypto> =>
  Effect.gen(function* () {
    const { rootKey, wrapped, wrappedBy } = yield* openRootKey(secrets);
    if (wrappedBy === 0) return false;
    const next = yield* wrapRootKey(rootKey, secrets[0]);
    const replaced = yield* (yield* RootKeyStore).replace(wrapped, next);
    // If a concurrent rotation came first, check whether it used the same secret.
    return replaced ? true : yield* rotateSecret(secrets);
  });

// The stored root key is `v1.` followed by the root key, encrypted with AES-256-GCM under a key derived from the
// deployment's secret with HKDF-SHA-256.

const version = "v1.";
const purpose = "root-key";

const wrappingKey = Effect.fnUntraced(function* (secret: Bytes) {
  return yield* Aead.key(Aead.aes256Gcm, yield* deriveKey(secret, "root-key-wrap"));
}, Effect.orDie);

/** Wraps (encrypts) a root key with a secret. Each call returns a different text. @internal */
export const wrapRootKey = Effect.fnUntraced(function* (rootKey: Bytes, secret: Bytes) {
  const { seal } = yield* makeSealing;
  return version + (yield* seal(yield* wrappingKey(secret), Redacted.value(rootKey), purpose));
});

/** Unwraps a root key. None if another secret wrapped it, or the text is damaged. @internal */
export const unwrapRootKey = Effect.fnUntraced(function* (wrapped: string, secret: Bytes) {
  if (!wrapped.startsWith(version)) return Option.none<Bytes>();
  const { unseal } = yield* makeSealing;
  const bytes = yield* unseal(yield* wrappingKey(secret), wrapped.slice(version.length), purpose);
  return Option.map(bytes, (key): Bytes => Redacted.make(key));
});

/** API keys, which give other programs access to the HTTP interface. */
import { ApiKeys, Conflict, InvalidParameter, type StoreUnavailable } from "@accountlink/core";
import {
  type IssuedKey,
  type KeyDetails,
  KeyStore,
  type KeyUpdate,
  type NewKey,
} from "@accountlink/core/keys";
import { Clock, Context, Effect, Layer, Option, Record } from "effect";
import { keyIdOf } from "./ids.ts";
import { originOf, Scope, type WriteOptions } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

/** The fields of a new key. Its limits default to the account's, and it does not expire by default. */
export type KeyChoice = Omit<NewKey, "account" | "target" | "status">;

type Options = Pick<WriteOptions, "actor">;
type WriteError = InvalidParameter | Conflict | StoreUnavailable;

/**
 * The keys of a scope. A change applies on every node within a second. An ID that is not a key of the scope fails with
 * `InvalidParameter`, a change of a revoked key with `Conflict` `key_revoked`.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const keys = yield* Keys;
 *   const { key } = yield* keys.create({ name: "bot" });
 *   return (yield* keys.revoke(key.id, { actor: "Grace" })).status;
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // "revoked"
 * ```
 */
export class Keys extends Context.Service<
  Keys,
  {
    /**
     * Creates a key. Its `token` cannot be read again. Fails with `Conflict` `key_limit` if the account has as many
     * keys as allowed.
     */
    readonly create: (key: KeyChoice, options?: Options) => Effect.Effect<IssuedKey, WriteError>;

    /** Returns the keys, oldest first, including revoked ones. */
    readonly list: () => Effect.Effect<ReadonlyArray<KeyDetails>, StoreUnavailable>;

    /** Returns a key; null if the scope has no such key. */
    readonly get: (id: string) => Effect.Effect<KeyDetails | null, InvalidParameter | StoreUnavailable>;

    readonly update: (
      id: string,
      update: KeyUpdate,
      options?: Options,
    ) => Effect.Effect<KeyDetails, WriteError>;

    readonly rotate: (
      id: string,
      options?: Options & {
        /** How long the previous token stays valid; 0 if left out. */
        readonly graceSeconds?: number;
      },
    ) => Effect.Effect<IssuedKey, WriteError>;

    readonly revoke: (id: string, options?: Options) => Effect.Effect<KeyDetails, WriteError>;
  }
>()("accountlink/Keys") {
  static readonly layer = Layer.effect(
    Keys,
    Effect.gen(function* () {
      const scope = yield* Scope;
      const keys = yield* ApiKeys;
      const store = yield* KeyStore;

      const find = Effect.fnUntraced(function* (text: string) {
        const id = yield* keyIdOf(text);
        const found = yield* store.findDetails(id, yield* Clock.currentTimeMillis);
        return Option.filter(found, (key) => key.scope.pid === scope.pid);
      });

      const findOwn = Effect.fnUntraced(function* (id: string) {
        const found = yield* find(id);
        if (Option.isSome(found)) return found.value;
        return yield* InvalidParameter.one("id", `is "${id}", expected a key of the scope`);
      });

      return Keys.of(
        checked<Keys["Service"]>(
          {
            create: Effect.fnUntraced(function* (key, options) {
              const owner = Option.getOrNull(yield* store.findAccount(scope.account));
              const account = owner ?? { name: scope.account, chatId: null, tier: "free" };
              const chosen = Record.filter<string, unknown>({ ...key }, (value) => value !== undefined);
              return yield* keys.create({ ...chosen, account, target: scope }, originOf(options));
            }),

            list: Effect.fnUntraced(function* () {
              const all = yield* store.listKeys(scope.account, yield* Clock.currentTimeMillis);
              return all.filter((key) => key.scope.pid === scope.pid);
            }),

            get: (id) => Effect.map(find(id), Option.getOrNull),

            update: Effect.fnUntraced(function* (id, update, options) {
              const key = yield* findOwn(id);
              yield* keys.update(key.id, update, originOf(options));
              return yield* findOwn(id);
            }),

            rotate: Effect.fnUntraced(function* (id, { graceSeconds = 0, ...options } = {}) {
              const key = yield* findOwn(id);
              const token = yield* keys.rotate(key.id, graceSeconds, originOf(options));
              if (Option.isNone(token)) return yield* new Conflict({ reason: "key_revoked" });
              return { key: yield* findOwn(id), token: token.value };
            }),

            revoke: Effect.fnUntraced(function* (id, options) {
              const key = yield* findOwn(id);
              yield* keys.revoke(key.id, originOf(options));
              return yield* findOwn(id);
            }),
          },
          signatures.keys,
        ),
      );
    }),
  );
}

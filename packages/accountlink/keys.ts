/** API keys, which give other programs access to the HTTP interface. */
import { ApiKeys, Conflict, InvalidParameter, type KeyId } from "@accountlink/core";
import { parseNetwork } from "@accountlink/core/addresses";
import {
  type IssuedKey,
  KeyStore,
  type KeyUpdate,
  keyAccesses,
  type NewKey,
  tiers,
} from "@accountlink/core/keys";
import { keyKinds } from "@accountlink/core/limits";
import { isOrigin } from "@accountlink/core/origin";
import { Clock, Context, Effect, Layer, Option, Schema } from "effect";
import * as Accept from "./accept.ts";
import { method, type Parameter } from "./method.ts";
import { type ActorOptions, originOf, Scope } from "./scope.ts";
import { withSpans } from "./spans.ts";

/** The fields of a new key. Its limits default to the account's, and it does not expire by default. */
export type KeyChoice = Omit<NewKey, "account" | "target" | "status">;

export interface RotateOptions extends ActorOptions {
  /** How many seconds the previous token stays valid; 0 if left out. */
  readonly graceSeconds?: number;
}

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
export class Keys extends Context.Service<Keys>()("accountlink/Keys", {
  make: Effect.gen(function* () {
    const scope = yield* Scope;
    const keys = yield* ApiKeys;
    const store = yield* KeyStore;

    const find = Effect.fnUntraced(function* (id: KeyId) {
      const found = yield* store.findDetails(id, yield* Clock.currentTimeMillis);
      return Option.getOrNull(Option.filter(found, (key) => key.scope.pid === scope.pid));
    });

    const findOwn = Effect.fnUntraced(function* (id: KeyId) {
      const found = yield* find(id);
      if (found !== null) return found;
      return yield* InvalidParameter.one("id", `is "${id}", expected a key of the scope`);
    });

    return {
      /**
       * Creates a key. Its `token` cannot be read again. Fails with `Conflict` `key_limit` if the account has as many
       * keys as allowed.
       */
      create: method(
        [["key", Accept.fields(keyFields)], Accept.acting],
        Effect.fnUntraced(function* (key: KeyChoice, options?: ActorOptions) {
          const owner = Option.getOrNull(yield* store.findAccount(scope.account));
          const account = owner ?? { name: scope.account, chatId: null, tier: "free" };
          return yield* keys.create({ ...key, account, target: scope }, originOf(options));
        }),
      ),

      /** Returns the keys, oldest first, including revoked ones. */
      list: Effect.fnUntraced(function* () {
        const all = yield* store.listKeys(scope.account, yield* Clock.currentTimeMillis);
        return all.filter((key) => key.scope.pid === scope.pid);
      }),

      /** Returns a key; null if the scope has no such key. */
      get: method([id], (id: KeyId) => find(id)),

      /** Changes a key. Fields that are left out stay. */
      update: method(
        [id, Accept.update(updateFields), Accept.acting],
        Effect.fnUntraced(function* (id: KeyId, update: KeyUpdate, options?: ActorOptions) {
          yield* findOwn(id);
          yield* keys.update(id, update, originOf(options));
          return yield* findOwn(id);
        }),
      ),

      /** Issues a new token. */
      rotate: method(
        [id, rotating],
        Effect.fnUntraced(function* (id: KeyId, options?: RotateOptions) {
          yield* findOwn(id);
          const token = yield* keys.rotate(id, options?.graceSeconds ?? 0, originOf(options));
          if (Option.isNone(token)) return yield* new Conflict({ reason: "key_revoked" });
          const issued: IssuedKey = { key: yield* findOwn(id), token: token.value };
          return issued;
        }),
      ),

      /** Refuses the key from now on, for ever. */
      revoke: method(
        [id, Accept.acting],
        Effect.fnUntraced(function* (id: KeyId, options?: ActorOptions) {
          yield* findOwn(id);
          yield* keys.revoke(id, originOf(options));
          return yield* findOwn(id);
        }),
      ),
    };
  }).pipe(withSpans("Keys")),
}) {
  static readonly layer = Layer.effect(Keys, Keys.make);
}

const id: Parameter<KeyId> = ["id", Accept.anyKeyId];
const network = Accept.textThat((given) => Option.isSome(parseNetwork(given)), "an address or a CIDR");
const limits = Accept.fields({
  perWindow: Accept.maybe(Accept.count),
  windowMs: Accept.maybe(Accept.count),
  daily: Accept.maybe(Accept.count),
  verifyDaily: Accept.maybe(Accept.count),
});
const keyFields = {
  name: Accept.maybe(Accept.text),
  tier: Accept.maybe(Accept.oneOf(tiers)),
  kind: Accept.maybe(Accept.oneOf(keyKinds)),
  access: Accept.maybe(Accept.oneOf(keyAccesses)),
  expiresAt: Accept.maybe(Schema.NullOr(Accept.count)),
  limits: Accept.maybe(
    Schema.Union([Schema.Literal("none"), limits]).annotate({
      message: 'expected "none" or an object of limits',
    }),
  ),
  allowIps: Accept.maybe(Accept.listOf(network)),
  denyIps: Accept.maybe(Accept.listOf(network)),
  redirectOrigins: Accept.maybe(
    Accept.listOf(Accept.textThat(isOrigin, 'an origin such as "https://example.com"')),
  ),
};
const updateFields = { ...keyFields, status: Accept.maybe(Accept.oneOf(["active", "disabled", "revoked"])) };
const rotating = Accept.options({ ...Accept.byActor, graceSeconds: Accept.maybe(Accept.whole(0, 604_800)) });

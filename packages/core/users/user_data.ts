/**
 * Access to and erasure of the data of one chat user.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import type { KeyDetails } from "../keys/api_key.ts";
import { KeyChanges } from "../keys/key_changes.ts";
import { KeyStore } from "../keys/key_store.ts";
import { randomToken } from "../secrets/random_token.ts";
import type { Signals } from "../signals.ts";
import { type UserErased, type UserRecords, UserStore } from "./user_store.ts";

/** The data of a chat user, with the keys of their accounts. */
export interface FoundUser extends UserRecords {
  readonly keys: ReadonlyArray<KeyDetails>;
}

/** Finds and erases chat users in every scope. */
export class UserData extends Context.Service<
  UserData,
  {
    readonly find: (chatId: ChatId) => Effect.Effect<FoundUser, StoreUnavailable>;

    /** See `UserStore.erase`. Every node refuses the revoked keys within a second. */
    readonly erase: (chatId: ChatId, origin: WriteOrigin) => Effect.Effect<UserErased, StoreUnavailable>;
  }
>()("@accountlink/core/UserData") {
  static readonly layer: Layer.Layer<
    UserData,
    never,
    UserStore | KeyStore | Signals | SecureRandom.SecureRandom
  > = Layer.effect(
    UserData,
    Effect.gen(function* () {
      const store = yield* UserStore;
      const keyStore = yield* KeyStore;
      const { announce } = yield* KeyChanges;
      const random = yield* SecureRandom.SecureRandom;

      const find = Effect.fn("UserData.find")(function* (chatId: ChatId) {
        const found = yield* store.find(chatId);
        const now = yield* Clock.currentTimeMillis;
        const keys = yield* Effect.forEach(found.accounts, ({ name }) => keyStore.listKeys(name, now));
        return { ...found, keys: keys.flat() };
      });

      const erase: UserData["Service"]["erase"] = Effect.fn("UserData.erase")(function* (chatId, origin) {
        const { records } = yield* store.find(chatId);
        const erased = yield* store.erase({
          ...origin,
          chatId,
          at: yield* Clock.currentTimeMillis,
          scopes: records.map(({ scope }) => scope.pid),
          pseudonym: `erased:${yield* randomToken(random)}`,
        });
        // A link was created in another scope meanwhile.
        if (Option.isNone(erased)) return yield* erase(chatId, origin);
        const { revokedKeys } = erased.value;
        yield* Effect.forEach(revokedKeys, announce);
        return erased.value;
      });

      return UserData.of({ find, erase });
    }),
  ).pipe(Layer.provide(KeyChanges.layer));
}

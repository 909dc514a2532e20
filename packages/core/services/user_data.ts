/**
 * What is kept about one chat user, shown and erased.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import type { ApiKey } from "../api_key.ts";
import type { WriteOrigin } from "../audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { randomToken } from "../internal/random_token.ts";
import { KeyStore } from "../ports/key_store.ts";
import { Signals } from "../ports/signals.ts";
import { type UserErased, type UserRecords, UserStore } from "../ports/user_store.ts";
import { keyChanges } from "./key_authenticator.ts";

/** What is kept about a chat user, with the keys of the accounts that the user can sign in to. */
export interface FoundUser extends UserRecords {
  readonly keys: ReadonlyArray<ApiKey>;
}

/** Finds and erases chat users in every scope. */
export class UserData extends Context.Service<
  UserData,
  {
    readonly find: (chatId: ChatId) => Effect.Effect<FoundUser, StoreUnavailable>;

    /** Erases a user, as `UserStore.erase` says. Keys that this revokes are refused on every node within a second. */
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
      const signals = yield* Signals;
      const random = yield* SecureRandom.SecureRandom;

      const find = Effect.fn("UserData.find")(function* (chatId: ChatId) {
        const found = yield* store.find(chatId);
        const keys = yield* Effect.forEach(found.accounts, ({ name }) => keyStore.listKeys(name));
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
        // A link was made in another scope since.
        if (Option.isNone(erased)) return yield* erase(chatId, origin);
        const { revokedKeys } = erased.value;
        yield* Effect.forEach(revokedKeys, (id) => Effect.ignore(signals.publish(keyChanges, id)));
        return erased.value;
      });

      return UserData.of({ find, erase });
    }),
  );
}

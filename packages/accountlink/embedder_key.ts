/** The API key under which the embedding program creates its verification sessions and its reviews of alt accounts. */
import {
  type ApiKey,
  ApiKeys,
  Conflict,
  type DataScope,
  type InvalidParameter,
  type KeyId,
  type StoreUnavailable,
} from "@accountlink/core";
import { generateToken, isAccepted, KeyStore } from "@accountlink/core/keys";
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { originOf } from "./scope.ts";

/**
 * Creates the key of a scope on first use. All processes use the same key of a scope. The token of the key is
 * discarded, so nobody can use the key over HTTP. Calls fail with a `Conflict` if the key was revoked or its account
 * suspended.
 */
export const makeEmbedderKey = (scope: DataScope) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys;
    const store = yield* KeyStore;
    const random = yield* SecureRandom.SecureRandom;
    // This part of the scope's public ID has the format of a key ID.
    const id = scope.pid.slice(4, 16) as KeyId;

    const adopt = Effect.gen(function* () {
      const { token } = yield* Effect.provideService(generateToken(id), SecureRandom.SecureRandom, random);
      const account = Option.getOrNull(yield* store.findAccount(scope.account));
      const owner = account ?? { name: scope.account, chatId: null, tier: "free" as const };
      const rights = { kind: "staff", access: "verify", limits: "none" } as const;
      const key = { name: "Sessions of the embedding program", account: owner, target: scope, ...rights };
      yield* keys.adopt(token, key, originOf());
    });

    const find: Effect.Effect<ApiKey, InvalidParameter | Conflict | StoreUnavailable> = Effect.gen(
      function* () {
        const found = yield* store.findById(id);
        if (Option.isNone(found)) return yield* Effect.andThen(adopt, find);
        if (!isAccepted(found.value, yield* Clock.currentTimeMillis)) {
          return yield* new Conflict({ reason: found.value.suspended ? "account_suspended" : "key_revoked" });
        }
        return found.value;
      },
    );
    return find;
  });

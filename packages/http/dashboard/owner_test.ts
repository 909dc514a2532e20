import type { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { KeyStore } from "@accountlink/core/keys";
import type { SiteSignIn } from "@accountlink/core/sign_ins";
import { StorageMemory } from "@accountlink/storage-memory";
import { assert, it } from "@effect/vitest";
import { Effect } from "effect";
import { makeOwnerOf } from "./owner.ts";

const signIn: SiteSignIn = {
  id: "id" as SignInId,
  site: "dashboard",
  chatId: "100001" as ChatId,
  guilds: null,
  createdAt: 0,
  expiresAt: 1,
};

it.effect("an owner has an account that is not suspended", () =>
  Effect.gen(function* () {
    const store = yield* KeyStore;
    const ownerOf = yield* makeOwnerOf;
    const refusal = Effect.flip(ownerOf(signIn));
    assert.strictEqual((yield* refusal).code, "INVALID_SESSION");
    const account = yield* store.ensureAccount({ name: "acme", chatId: signIn.chatId, tier: "free" });
    assert.deepStrictEqual(yield* ownerOf(signIn), account);
    const set = (status: "active" | "suspended") =>
      store.updateAccount({
        actor: { type: "operator", id: "test" },
        requestId: null,
        name: "acme",
        at: 0,
        update: { status },
      });
    yield* set("suspended");
    assert.deepStrictEqual((yield* refusal).details, { reason: "account_suspended" });
    yield* set("active");
    assert.deepStrictEqual(yield* ownerOf(signIn), account);
  }).pipe(Effect.provide(StorageMemory.layer)),
);

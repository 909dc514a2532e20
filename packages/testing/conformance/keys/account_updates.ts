import type { StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, Option } from "effect";
import { makeKey, uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { makeScopes, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { insert } from "./keys.ts";

const atOnce = { concurrency: "unbounded" } as const;

const suspend = (name: string) =>
  Effect.flatMap(KeyStore, (keys) =>
    keys.updateAccount({ ...origin, name, update: { status: "suspended" }, at: 0 }),
  );

export const accountUpdates: Cases<StoragePorts> = {
  "concurrent insertKey and suspension: every key is suspended": Effect.gen(function* () {
    const keys = yield* KeyStore;
    for (let round = 0; round < 10; round++) {
      const { account, global } = yield* makeScopes;
      const made = Array.from({ length: 6 }, () => makeKey(global));
      yield* Effect.all([Effect.forEach(made, (key) => insert(key), atOnce), suspend(account.name)], atOnce);
      for (const key of made)
        expectEqual(yield* keys.findById(key.id), Option.some({ ...key, suspended: true }));
    }
  }),

  "concurrent suspensions: exactly one changes the account": Effect.gen(function* () {
    const { account, global } = yield* makeScopes;
    yield* insert(makeKey(global));
    const updates = yield* Effect.forEach(Array.from({ length: 10 }), () => suspend(account.name), atOnce);
    expectEqual(updates.filter(Option.exists(({ changed }) => changed)).length, 1);
  }),

  "listAccounts returns all accounts by name": Effect.gen(function* () {
    const keys = yield* KeyStore;
    const [chatId, prefix] = [uniqueChatId(), uniqueText()];
    for (const name of ["b", "a", "c"]) {
      yield* keys.ensureAccount({ name: `${prefix}${name}`, chatId, tier: "free" });
    }
    const named = (name: string) =>
      ({ name: `${prefix}${name}`, chatId, tier: "free", status: "active" }) as const;
    expectEqual(
      (yield* keys.listAccounts()).filter((account) => account.chatId === chatId),
      ["a", "b", "c"].map(named),
    );
  }),
};

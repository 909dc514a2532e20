/**
 * `accountlink keys list`
 */
import { KeyStore } from "@accountlink/core";
import { Clock, Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { accountFlag } from "../internal/flags.ts";
import { keyJson, keyTable } from "../internal/key_output.ts";
import { answer } from "../internal/output.ts";
import { managementLayer } from "../management.ts";

const flags = {
  account: accountFlag.pipe(Flag.withDescription("Only the keys of this account"), Flag.optional),
};

export const listKeysCommand = Command.make("list", flags, ({ account }) =>
  Effect.gen(function* () {
    const store = yield* KeyStore;
    const keys = yield* store.listKeys(Option.getOrNull(account));
    const now = yield* Clock.currentTimeMillis;
    yield* answer(
      { keys: keys.map((key) => keyJson(key, now)) },
      keys.length === 0 ? "There are no keys" : keyTable(keys, now),
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(Command.withDescription("List keys, oldest first. What is shown of a key cannot be used as one."));

import { KeyStore } from "@accountlink/core/keys";
import { Clock, Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { accountFlag } from "../../cli/flags.ts";
import { answer } from "../../cli/output.ts";
import { managementLayer } from "../management_layer.ts";
import { keyJson, keyTable } from "./key_output.ts";

const flags = {
  account: accountFlag.pipe(Flag.withDescription("Only the keys of this account"), Flag.optional),
};

export const listKeysCommand = Command.make("list", flags, ({ account }) =>
  Effect.gen(function* () {
    const store = yield* KeyStore;
    const now = yield* Clock.currentTimeMillis;
    const keys = yield* store.listKeys(Option.getOrNull(account), now);
    yield* answer(
      { keys: keys.map((key) => keyJson(key, now)) },
      keys.length === 0 ? "There are no keys" : keyTable(keys, now),
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(Command.withDescription("List keys, oldest first, without their secrets."));

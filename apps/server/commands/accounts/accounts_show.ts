import { KeyStore } from "@accountlink/core/keys";
import { Clock, Effect, Option } from "effect";
import { Command } from "effect/cli";
import { answer } from "../../cli/output.ts";
import { keyJson, keyTable } from "../keys/key_output.ts";
import { managementLayer } from "../management_layer.ts";
import { accountArgument, noSuchAccount } from "./account_argument.ts";

export const showAccountCommand = Command.make("show", { name: accountArgument }, ({ name }) =>
  Effect.gen(function* () {
    const store = yield* KeyStore;
    const found = yield* store.findAccount(name);
    if (Option.isNone(found)) return yield* noSuchAccount(name, "show");
    const now = yield* Clock.currentTimeMillis;
    const keys = yield* store.listKeys(name, now);
    const { chatId, tier, status } = found.value;
    const owner = chatId === null ? "of no chat user" : `of chat user ${chatId}`;
    yield* answer(
      { ...found.value, keys: keys.map((key) => keyJson(key, now)) },
      `Account "${name}" ${owner}: ${tier}, ${status}\n\n${keys.length === 0 ? "It has no keys" : keyTable(keys, now)}`,
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(Command.withDescription("Show an account with its keys."));

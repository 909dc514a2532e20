import { KeyStore } from "@accountlink/core/keys";
import { Clock, Effect, Option } from "effect";
import { Command } from "effect/cli";
import { answer, formatTable, Json } from "../../cli/output.ts";
import { keyJson, keyTable } from "../keys/key_output.ts";
import { managementLayer } from "../management_layer.ts";
import { membersCommand } from "./accounts_members.ts";
import {
  accountArgument,
  noSuchAccount,
  restoreAccountCommand,
  setTierCommand,
  suspendAccountCommand,
} from "./accounts_update.ts";

const listAccountsCommand = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const accounts = yield* (yield* KeyStore).listAccounts();
    const rows = accounts.map(({ name, chatId, tier, status }) => [name, chatId ?? "none", tier, status]);
    yield* answer(
      { accounts },
      rows.length === 0
        ? "There are no accounts"
        : formatTable(["ACCOUNT", "CHAT USER", "TIER", "STATUS"], rows),
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(Command.withDescription("List accounts by name."));

const showAccountCommand = Command.make("show", { name: accountArgument }, ({ name }) =>
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

export const accountsCommand = Command.make("accounts").pipe(
  Command.withDescription(
    "Manage accounts, also next to a running server, which applies every change within a second.",
  ),
  Command.withShortDescription("Manage accounts"),
  Command.withSubcommands([
    listAccountsCommand,
    showAccountCommand,
    setTierCommand,
    suspendAccountCommand,
    restoreAccountCommand,
    membersCommand,
  ]),
  Command.withGlobalFlags([Json]),
);

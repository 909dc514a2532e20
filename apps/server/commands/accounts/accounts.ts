import { Members } from "@accountlink/core/accounts";
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

const ownersOf = Effect.fnUntraced(function* (account: string) {
  const members = yield* (yield* Members).list(account);
  return members.filter(({ role }) => role === "owner").map(({ chatId }) => chatId);
});

const textOf = (owners: ReadonlyArray<string>): string => (owners.length === 0 ? "none" : owners.join(", "));

const listAccountsCommand = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const accounts = yield* Effect.forEach(
      yield* (yield* KeyStore).listAccounts(),
      (account) => Effect.map(ownersOf(account.name), (owners) => ({ ...account, owners })),
      { concurrency: 8 },
    );
    const rows = accounts.map(({ name, owners, tier, status }) => [name, textOf(owners), tier, status]);
    yield* answer(
      { accounts },
      rows.length === 0
        ? "There are no accounts"
        : formatTable(["ACCOUNT", "OWNERS", "TIER", "STATUS"], rows),
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
    const { tier, status } = found.value;
    const owners = yield* ownersOf(name);
    yield* answer(
      { ...found.value, owners, keys: keys.map((key) => keyJson(key, now)) },
      `Account "${name}", owners ${textOf(owners)}: ${tier}, ${status}\n\n${keys.length === 0 ? "It has no keys" : keyTable(keys, now)}`,
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

import { Members } from "@accountlink/core/accounts";
import { KeyStore } from "@accountlink/core/keys";
import { Clock, Effect, Option } from "effect";
import { answer, formatTable } from "../../cli/output.ts";
import { describe, group, managed } from "../command.ts";
import { keyJson, keyTable } from "../keys/key_output.ts";
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

const listAccountsCommand = managed("list", {}, function* () {
  const accounts = yield* Effect.forEach(
    yield* (yield* KeyStore).listAccounts(),
    (account) => Effect.map(ownersOf(account.name), (owners) => ({ ...account, owners })),
    { concurrency: 8 },
  );
  const rows = accounts.map(({ name, owners, tier, status }) => [name, textOf(owners), tier, status]);
  yield* answer(
    { accounts },
    rows.length === 0 ? "There are no accounts" : formatTable(["ACCOUNT", "OWNERS", "TIER", "STATUS"], rows),
  );
}).pipe(describe("List accounts by name."));

const showAccountCommand = managed("show", { name: accountArgument }, function* ({ name }) {
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
}).pipe(describe("Show an account with its keys."));

export const accountsCommand = group(
  "accounts",
  "Manage accounts, also next to a running server, which applies every change within a second.",
  [
    listAccountsCommand,
    showAccountCommand,
    setTierCommand,
    suspendAccountCommand,
    restoreAccountCommand,
    membersCommand,
  ],
);

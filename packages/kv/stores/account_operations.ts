/** The operations of `KeyStore` on accounts. */
import type { KeyId } from "@accountlink/core";
import { logged } from "@accountlink/core/journal";
import { endOfAccount, isOperators, type KeyStore, shownName } from "@accountlink/core/keys";
import { assertStorable } from "@accountlink/core/storable_text";
import { accountQueue, changeInSteps, closeAccount, type Unfinished } from "@accountlink/core/storage";
import { Clock, Effect, Option } from "effect";
import type { Database } from "../database.ts";
import { txOf } from "../records.ts";
import { changeFirst, changeSome, isAtEnd } from "../steps.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { clearSome, members, releaseAccount } from "./account_end.ts";
import { nextNumber } from "./counts.ts";
import { accountPlace, journal, record, type StoredRecord } from "./journal.ts";
import { activeKeys, keys } from "./keys.ts";
import { accountNamed, accountOf, accounts, type StoredAccount } from "./scopes.ts";

/** Hashes of erased users who owned a suspended account. */
export const suspendedOwners = table<{ readonly hash: string }>()("suspended", ({ hash }) => [hash], {});

type Updated = Effect.Success<ReturnType<KeyStore["Service"]["updateAccount"]>>;

type Operations =
  | "ensureAccount"
  | "findAccount"
  | "listAccounts"
  | "updateAccount"
  | "renameAccount"
  | "endAccount";

export const accountOperations = (db: Database): Pick<KeyStore["Service"], Operations> => ({
  ensureAccount: (made, ownerHash) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      db.write(accountQueue(made.name), function* (tx) {
        const { name, chatId, tier } = made;
        assertStorable([name]);
        let account = yield* accountNamed(tx, name);
        if (account === undefined) {
          const isSuspended =
            ownerHash !== undefined && (yield* tx.remove(suspendedOwners, ownerHash)) !== undefined;
          const status = isSuspended ? "suspended" : "active";
          const id = yield* nextNumber(tx, "accounts");
          account = { id, name, chatId, tier, status, operator: isOperators(made) };
          yield* tx.put(accounts, account);
        }
        const { id, chatId: owner } = account;
        if (owner !== null && (yield* tx.get(members, id, owner)) === undefined) {
          const member = { role: "owner", scopes: null, since: now, chosenAt: now, invitedBy: null } as const;
          yield* tx.put(members, { account: id, chatId: owner, ...member });
        }
        return accountOf(account);
      }),
    ),

  findAccount: (name) =>
    db.read(function* (tx) {
      return Option.map(Option.fromUndefinedOr(yield* accountNamed(tx, name)), accountOf);
    }),

  listAccounts: () =>
    db.read((tx) => Effect.map(tx.list(accounts.byName, []), (found) => found.map(accountOf))),

  updateAccount: ({ name, update, ...origin }) =>
    changeInSteps((before) =>
      db.write<Updated | Unfinished>(accountQueue(name), function* (tx) {
        const account = yield* accountNamed(tx, name);
        if (account === undefined) return Option.none();
        const found = (yield* activeKeys(tx, account.id)).filter(({ key }) =>
          "tier" in update
            ? key.kind === "normal" && key.tier !== update.tier
            : update.status !== account.status,
        );
        const changed: Array<KeyId> = [];
        const isMore = yield* changeFirst(tx, found, (stored) => {
          changed.push(stored.key.id);
          // The status of a key is its account's.
          return "tier" in update
            ? tx.put(keys, { ...stored, key: { ...stored.key, ...update } })
            : Effect.void;
        });
        if (isMore) return { unfinished: changed };
        const ids = [...before, ...changed];
        const updated = { ...account, ...update };
        const isSame = updated.tier === account.tier && updated.status === account.status;
        if (ids.length === 0 && isSame) return Option.some({ changed: false, keys: ids });
        const entry = logged(origin, "account.updated", { ...update, keys: ids.length });
        yield* record(tx, accountPlace(account.id), entry);
        yield* tx.put(accounts, updated);
        return Option.some({ changed: true, keys: ids });
      }),
    ),

  renameAccount: ({ name, displayName, ...origin }) =>
    db.write(accountQueue(name), function* (tx) {
      assertStorable([displayName]);
      const account = yield* accountNamed(tx, name);
      if (account === undefined) return "unknown";
      const named = yield* tx.list(accounts.names, [displayName]);
      if (named.some(({ id }) => id !== account.id)) return "taken";
      if (shownName(account) === displayName) return "unchanged";
      yield* tx.put(accounts, { ...account, displayName });
      const details = { name: displayName };
      yield* record(tx, accountPlace(account.id), logged(origin, "account.updated", details));
      return "renamed";
    }),

  endAccount: ({ name, pseudonym, ...write }) =>
    changeInSteps((before) =>
      db.write<Option.Option<ReadonlyArray<KeyId>> | Unfinished>(accountQueue(name), function* (tx) {
        assertStorable([pseudonym]);
        const account = yield* accountNamed(tx, name);
        if (account === undefined) return Option.none();
        const { revoked, isMore } = yield* closeAccount(txOf(tx), account, write.at);
        if (isMore || (yield* isLeft(tx, account, pseudonym))) return { unfinished: revoked };
        yield* releaseAccount(tx, account, pseudonym);
        const all = [...before, ...revoked];
        const end = endOfAccount(write, pseudonym, all);
        yield* record(tx, accountPlace(account.id), logged(end, end.action, end.details));
        return Option.some(all);
      }),
    ),
});

/** Clears some texts, members and entries of an account that ends. Returns whether more may be left. */
const isLeft = Effect.fnUntraced(function* (tx: Transaction, account: StoredAccount, pseudonym: string) {
  const { id, name } = account;
  if (yield* clearSome(tx, account)) return true;
  const rename = (stored: StoredRecord) =>
    tx.put(journal, { ...stored, actor: { ...stored.actor, id: pseudonym } as typeof stored.actor });
  if (yield* changeSome(tx, journal.byActor, [name], rename, isAtEnd)) return true;
  // Owners go last, since an owner repeats an end that was interrupted.
  const left = (yield* tx.list(members.byAccount, [id])).toSorted(
    (one, other) => Number(one.role === "owner") - Number(other.role === "owner"),
  );
  return yield* changeFirst(tx, left, ({ chatId }) => tx.remove(members, id, chatId), isAtEnd);
});

/** The operations of `Tx` on accounts, scopes and keys. */
import { guildOf, type KeyId } from "@accountlink/core";
import { keyRecords, noSettings } from "@accountlink/core/keys";
import type { Tx } from "@accountlink/core/records";
import { siteSignIns } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import { lastUsePrecision } from "@accountlink/core/usage";
import { Effect } from "effect";
import { kvTable } from "../record_tables.ts";
import { changeSome, isAtEnd, removeSome } from "../steps.ts";
import { keyOf, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { journal } from "./journal.ts";
import {
  accountNamed,
  accountOf,
  accounts,
  configuredScope,
  counts,
  knownScopes,
  type StoredAccount,
  scopeAt,
  scopes,
} from "./scopes.ts";

/** When a key was last used. Apart from the key, so that its use does not overtake its changes. */
interface LastUse {
  readonly key: KeyId;
  readonly at: Millis;
}

export const lastUses = table<LastUse>()("use", ({ key }) => [key], {});

const keys = kvTable(keyRecords);

export const knownAccounts = (tx: Transaction) =>
  ({
    isFull: () => isAtEnd(tx),

    accountId: (name) => Effect.map(accountNamed(tx, name), (found) => found?.id),

    account: (name) => accountNamed(tx, name),

    accounts: (ids) =>
      Effect.map(
        tx.getAll(accounts, ids, (id) => [id]),
        (found) => new Map(found.flatMap((each) => (each === undefined ? [] : [[each.id, accountOf(each)]]))),
      ),

    allAccounts: () => Effect.map(tx.list(accounts.byName, []), (found) => found.map(accountOf)),

    accountsNamed: (name) => tx.list(accounts.names, [name]),

    addAccount: Effect.fnUntraced(function* (account) {
      const id = ((yield* tx.get(counts, "accounts"))?.last ?? 0) + 1;
      yield* tx.put(counts, { name: "accounts", last: id });
      const made = { ...account, id };
      yield* tx.put(accounts, made);
      return made;
    }),

    putAccount: (account) => tx.put(accounts, account as StoredAccount),

    /** Other records name the account by its number. */
    releaseAccount: ({ id, tier, status }, pseudonym) => {
      const released = { name: pseudonym, chatId: null, tier, status, operator: false };
      return Effect.as(tx.put(accounts, { id: id as StoredAccount["id"], ...released }), id);
    },

    renameEntries: ({ name }, pseudonym) =>
      changeSome(
        tx,
        journal.byActor,
        [name],
        (stored) =>
          tx.put(journal, { ...stored, actor: { ...stored.actor, id: pseudonym } as typeof stored.actor }),
        isAtEnd,
      ),

    endSignIns: ({ name }, isOver) => removeSome(tx, kvTable(siteSignIns).byAccount, [name], isOver),

    scopes: (pids) => knownScopes(tx, pids),

    scope: (pid) => Effect.map(knownScopes(tx, [pid]), (known) => known.get(pid)),

    scopesOf: Effect.fnUntraced(function* (name, target) {
      const owner = yield* accountNamed(tx, name);
      if (owner === undefined) return [];
      const place = target === undefined ? [] : [guildOf(target) ?? ""];
      const found = yield* tx.list(scopes.byAccount, [owner.id, ...place]);
      return found.map((stored) => configuredScope(stored, owner));
    }),

    addScope: Effect.fnUntraced(function* ({ pid, account, ...target }) {
      const owner = yield* accountNamed(tx, account);
      if (owner === undefined || (yield* tx.get(scopes, pid)) !== undefined) {
        throw new Error(
          `Cannot make scope "${pid}" of account "${account}", expected a free pid of a known account`,
        );
      }
      yield* tx.put(scopes, { pid, account: owner.id, target, settings: noSettings, epoch: 1 });
    }),

    putSettings: (pid, settings) =>
      Effect.flatMap(scopeAt(tx, pid), (stored) => tx.put(scopes, { ...stored, settings })),

    knowsKey: (id) => Effect.map(tx.get(keys, id), (found) => found !== undefined),

    forgetUse: (id) => tx.remove(lastUses, id),

    lastUses: (ids) =>
      Effect.map(
        tx.getAll(lastUses, ids, (id) => [id]),
        (found) => new Map(found.flatMap((use) => (use === undefined ? [] : [[use.key, use.at]]))),
      ),

    noteUses: Effect.fnUntraced(function* (uses) {
      yield* tx.prefetch(uses.flatMap(({ key }) => [keyOf(keys, [key]), keyOf(lastUses, [key])]));
      for (const { key, at } of uses) {
        if ((yield* tx.get(keys, key)) === undefined) continue;
        const last = (yield* tx.get(lastUses, key))?.at ?? -Infinity;
        if (at - last >= lastUsePrecision) yield* tx.put(lastUses, { key, at });
      }
    }),
  }) satisfies Partial<Tx>;

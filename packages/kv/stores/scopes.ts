/** Accounts and scopes. Other records name an account by its number, so that an account can get another name. */
import type { DataScope, GameId, Pid, ScopeTarget } from "@accountlink/core";
import { guildOf } from "@accountlink/core";
import { type Account, type ConfiguredScope, noSettings, type ScopeSettings } from "@accountlink/core/keys";
import type { AccountId, KnownAccount, KnownScope } from "@accountlink/core/records";
import { Effect, Order } from "effect";
import { keyOf, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";

export interface StoredAccount extends KnownAccount {
  readonly id: number;
}

export const accounts = table<StoredAccount>()("account", ({ id }) => [id], {
  byName: { keys: ({ name }) => [[name]] },
  /** The names that no other account may have. */
  names: {
    keys: ({ id, name, displayName = name }) => [
      [name, id],
      ...(displayName === name ? [] : [[displayName, id]]),
    ],
    group: 1,
  },
  byUser: { keys: ({ id, chatId }) => (chatId === null ? [] : [[chatId, id]]), group: 1 },
});

interface Count {
  readonly name: string;
  readonly last: number;
}

/** The last number of an account, under the name `accounts`. */
export const counts = table<Count>()("count", ({ name }) => [name], {});

/** What never changes in a scope. */
export interface ScopeRef {
  readonly pid: Pid;
  readonly account: number;
  readonly target: ScopeTarget;
}

export interface StoredScope extends ScopeRef {
  readonly settings: ScopeSettings;
  /** The links, sightings and reviews of earlier epochs are deleted. */
  readonly epoch: number;
  /** The epoch of the scope's blocks, if a deletion has kept them; else they are of `epoch`. */
  readonly blockEpoch?: number;
  /** Blocked game users whose links are being removed, with the sequence of each block's record. Lookups do not find them. */
  readonly blocking?: ReadonlyArray<{ readonly gameId: GameId; readonly entry: number }>;
}

/** Whether a block is removing the links of a game user. */
export const isBlocking = (scope: StoredScope | undefined, gameId: GameId | null): boolean =>
  scope?.blocking?.some((removal) => removal.gameId === gameId) === true;

export const scopes = table<StoredScope>()("scope", ({ pid }) => [pid], {
  byAccount: { keys: ({ account, target, pid }) => [[account, guildOf(target) ?? "", pid]], group: 1 },
  blocking: { keys: ({ blocking = [], pid }) => (blocking.length === 0 ? [] : [[pid]]) },
});

export const byName = Order.mapInput(Order.String, ({ name }: Account) => name);

export const accountOf = ({ id: _, ...account }: StoredAccount): Account => account;

export const accountNamed = Effect.fnUntraced(function* (tx: Transaction, name: string) {
  return (yield* tx.list(accounts.names, [name])).find((account) => account.name === name);
});

/** The account with a number. Accounts are never deleted. */
export const accountAt = Effect.fnUntraced(function* (tx: Transaction, id: AccountId) {
  const found = yield* tx.get(accounts, id);
  if (found === undefined) throw new Error(`Cannot read account ${id}, expected one that exists`);
  return found;
});

export const scopeKey = (pid: Pid): string => keyOf(scopes, [pid]);

/** Throws if the scope does not exist, as a foreign key would. */
export const scopeAt = Effect.fnUntraced(function* (tx: Transaction, pid: Pid) {
  const found = yield* tx.get(scopes, pid);
  if (found === undefined) throw new Error(`Cannot write to scope "${pid}", expected one that exists`);
  return found;
});

/** The epoch of a scope; 0 if there is no such scope. */
export const epochOf = (tx: Transaction, pid: Pid) =>
  Effect.map(tx.get(scopes, pid), (scope) => scope?.epoch ?? 0);

/** The epoch of the blocks of a scope; 0 if there is no such scope. */
export const blockEpochOf = (tx: Transaction, pid: Pid) =>
  Effect.map(tx.get(scopes, pid), (scope) => scope?.blockEpoch ?? scope?.epoch ?? 0);

/** A record that a deletion of its scope's data deletes. */
export interface OfEpoch {
  readonly pid: Pid;
  readonly epoch: number;
}

/** Whether the data of a record's scope was not deleted since. */
export const isCurrent = (tx: Transaction, { pid, epoch }: OfEpoch) =>
  Effect.map(tx.get(scopes, pid), (scope) => scope?.epoch === epoch);

/** The records whose scope's data was not deleted since. */
export const currentOf = Effect.fnUntraced(function* <R extends OfEpoch>(
  tx: Transaction,
  records: ReadonlyArray<R>,
) {
  const pids = [...new Set(records.map(({ pid }) => pid))];
  const found = yield* tx.getAll(scopes, pids, (pid) => [pid]);
  const epochs = new Map(found.map((scope) => [scope?.pid, scope?.epoch]));
  return records.filter(({ pid, epoch }) => epochs.get(pid) === epoch);
});

const dataScope = ({ pid, target }: ScopeRef, { name }: StoredAccount): DataScope => ({
  ...target,
  pid,
  account: name,
});

export const configuredScope = (stored: StoredScope, owner: StoredAccount): ConfiguredScope => ({
  scope: dataScope(stored, owner),
  settings: { ...noSettings, ...stored.settings },
});

/** Adds the scope to records that keep its constant part. */
export const withScope = Effect.fnUntraced(function* (tx: Transaction, ref: ScopeRef) {
  return dataScope(ref, yield* accountAt(tx, ref.account));
});

export const knownScopes = Effect.fnUntraced(function* (tx: Transaction, pids: ReadonlyArray<Pid>) {
  const found = new Map<Pid, KnownScope>();
  for (const scope of yield* tx.getAll(scopes, [...new Set(pids)], (pid) => [pid])) {
    if (scope === undefined) continue;
    const account = yield* accountAt(tx, scope.account);
    found.set(scope.pid, { ...configuredScope(scope, account), isActive: account.status === "active" });
  }
  return found;
});

/** What records of this storage say otherwise than rows: numbers of accounts, and epochs of scopes. */
import { type GuildId, MoveRefused, type Pid, type Row, targetOfGuild } from "@accountlink/core";
import type { StoreEffect } from "@accountlink/core/errors";
import { Effect } from "effect";
import type { Database } from "../database.ts";
import { lastUses } from "../stores/known_accounts.ts";
import { accounts, type ScopeRef, scopes } from "../stores/scopes.ts";
import type { Table } from "../table.ts";

interface PlacedAccount {
  readonly id: number;
  readonly name: string;
}

interface PlacedScope extends ScopeRef {
  readonly epoch: number;
  /** The epoch of the blocks, if it is another one. */
  readonly blockEpoch?: number;
}

export interface Places {
  readonly accounts: Map<string, PlacedAccount>;
  readonly accountsById: Map<number, PlacedAccount>;
  readonly scopes: Map<string, PlacedScope>;
  readonly lastUses: Map<string, number>;
}

/** Reads what every record refers to. */
export const at = <K, V>(places: ReadonlyMap<K, V>, key: K): V => {
  const value = places.get(key);
  if (value === undefined) throw MoveRefused.of("changing");
  return value;
};

export const epochOf = ({ scopes: all }: Places, pid: string): number => at(all, pid).epoch;

export const isOfEpoch = ({ pid, epoch }: { readonly pid: string; readonly epoch: number }, places: Places) =>
  places.scopes.get(pid)?.epoch === epoch;

/** Adds what rows of accounts and scopes say. New accounts get the next numbers. */
export const addPlaces = (places: Places, relation: string, rows: ReadonlyArray<Row>): void => {
  for (const { name, pid, account, guild_id: guildId } of rows) {
    if (relation === "accounts" && !places.accounts.has(String(name))) {
      const added = { id: places.accounts.size + 1, name: String(name) };
      places.accounts.set(added.name, added);
      places.accountsById.set(added.id, added);
    } else if (relation === "scopes" && !places.scopes.has(String(pid))) {
      const target = targetOfGuild(guildId as GuildId | null);
      const { id } = at(places.accounts, String(account));
      places.scopes.set(String(pid), { pid: pid as Pid, account: id, target, epoch: 0 });
    }
  }
};

export const readPlaces = Effect.fnUntraced(function* (db: Database) {
  const all = <R>(table: Table<R>): StoreEffect<ReadonlyArray<R>> => db.read((tx) => tx.scan(table, []));
  const known = yield* all(accounts);
  const places: Places = {
    accounts: new Map(known.map((account) => [account.name, account])),
    accountsById: new Map(known.map((account) => [account.id, account])),
    scopes: new Map((yield* all(scopes)).map((scope) => [scope.pid, scope])),
    lastUses: new Map((yield* all(lastUses)).map(({ key, at: time }) => [key, time])),
  };
  return places;
});

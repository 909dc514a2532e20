/** What records of this storage say otherwise than rows: numbers of accounts, and epochs of scopes. */
import { type GuildId, type Pid, type Row, type StorageRows, targetOfGuild } from "@accountlink/core";
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
  readonly accounts: ReadonlyMap<string, PlacedAccount>;
  readonly accountsById: ReadonlyMap<number, PlacedAccount>;
  readonly scopes: ReadonlyMap<string, PlacedScope>;
  readonly lastUses: ReadonlyMap<string, number>;
}

/** Reads what every record refers to. Throws if it does not exist, as a foreign key would. */
export const at = <K, V>(places: ReadonlyMap<K, V>, key: K): V => {
  const value = places.get(key);
  if (value === undefined)
    throw new Error(`Cannot move a record of "${String(key)}", expected one that exists`);
  return value;
};

export const epochOf = ({ scopes: all }: Places, pid: string): number => at(all, pid).epoch;

export const isOfEpoch = ({ pid, epoch }: { readonly pid: string; readonly epoch: number }, places: Places) =>
  places.scopes.get(pid)?.epoch === epoch;

const accountMaps = (all: ReadonlyArray<PlacedAccount>): Pick<Places, "accounts" | "accountsById"> => ({
  accounts: new Map(all.map((account) => [account.name, account])),
  accountsById: new Map(all.map((account) => [account.id, account])),
});

/** Numbers the accounts of an SQL storage in the order of their keys. */
export const placesOfRows = Effect.fnUntraced(function* (rows: StorageRows) {
  const all = Effect.fnUntraced(function* (relation: string) {
    const found: Array<Row> = [];
    for (;;) {
      const last = found.at(-1);
      const after = last && rows.keyOf(relation).map((column) => last[column] ?? null);
      const page: ReadonlyArray<Row> = yield* rows.page(relation, after ?? null, 500);
      if (page.length === 0) return found;
      found.push(...page);
    }
  });
  const named = accountMaps(
    (yield* all("accounts")).map(({ name }, index) => ({ id: index + 1, name: String(name) })),
  );
  const places: Places = {
    ...named,
    scopes: new Map(
      (yield* all("scopes")).map((row) => {
        const [pid, guildId] = [row["pid"] as Pid, row["guild_id"] as GuildId | null];
        const target = targetOfGuild(guildId);
        return [pid, { pid, account: at(named.accounts, String(row["account"])).id, target, epoch: 0 }];
      }),
    ),
    lastUses: new Map(),
  };
  return places;
});

export const placesOfRecords = Effect.fnUntraced(function* (db: Database) {
  const all = <R>(table: Table<R>): StoreEffect<ReadonlyArray<R>> => db.read((tx) => tx.scan(table, []));
  const places: Places = {
    ...accountMaps(yield* all(accounts)),
    scopes: new Map((yield* all(scopes)).map((scope) => [scope.pid, scope])),
    lastUses: new Map((yield* all(lastUses)).map(({ key, at: time }) => [key, time])),
  };
  return places;
});

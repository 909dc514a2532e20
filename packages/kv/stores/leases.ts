/** The leases of nodes for work on webhooks and role plans. */
import type { StoreEffect, StoreUnavailable } from "@accountlink/core/errors";
import type { HoldItems } from "@accountlink/core/records";
import { Effect } from "effect";
import { type Index, type Table, table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
import { ofActive, type ScopeRef } from "./scopes.ts";

interface Lease {
  readonly work: string;
  readonly node: string;
  readonly until: number;
}

export const leases = table<Lease>()("lease", ({ work, node }) => [work, node], {});

/** The nodes whose leases have not ended. */
export const liveNodes = Effect.fnUntraced(function* (tx: Transaction, work: string, at: number) {
  const found = yield* tx.scan(leases, [work]);
  return found.filter(({ until }) => until > at).map(({ node }) => node);
});

/** An item on which a node works; null if no node does. */
export interface Held {
  readonly holder: string | null;
}

/**
 * Renews the lease of a node, takes items that no live node holds, and returns all that it holds; none if its lease ends
 * now.
 *
 * @param listed the items that need a node, and those of a holder
 */
const takeItems = Effect.fnUntraced(function* <R extends Held>(
  db: Database,
  name: string,
  items: Table<R>,
  { node, at, until, limit }: HoldItems,
  listed: (tx: Transaction, holder?: string) => StoreEffect<ReadonlyArray<R>>,
) {
  yield* db.write(`${name} ${node}`, function* (tx) {
    if (until > at) yield* tx.put(leases, { work: name, node, until });
    else yield* tx.remove(leases, name, node);
  });
  if (until <= at) return [];
  const free = yield* db.read(function* (tx) {
    const live = new Set(yield* liveNodes(tx, name, at));
    return (yield* listed(tx)).filter(({ holder }) => holder === null || !live.has(holder));
  });
  for (const item of free.slice(0, limit)) {
    yield* db.write(`${name} ${node}`, function* (tx) {
      const stored = yield* tx.get(items, ...items.id(item));
      if (stored === undefined) return;
      const lease = stored.holder === null ? undefined : yield* tx.get(leases, name, stored.holder);
      if (lease === undefined || lease.until <= at) yield* tx.put(items, { ...stored, holder: node });
    });
  }
  return yield* db.read((tx) => listed(tx, node));
});

/** Holds records of which all need a node. */
export const holdRecords = <R extends Held>(db: Database, name: string, items: Table<R>, hold: HoldItems) =>
  takeItems(db, name, items, hold, (tx, holder) =>
    Effect.map(tx.scan(items, []), (all) =>
      all.filter((each) => holder === undefined || each.holder === holder),
    ),
  );

/**
 * Holds items, and returns those whose accounts are active.
 *
 * @param items has an index of the items that need a node by their holder, the empty text for none
 */
export const holdItems = <R extends Held & { readonly scope: ScopeRef }, A>(
  db: Database,
  name: string,
  items: Table<R> & { readonly byHolder: Index<R> },
  hold: HoldItems,
  shown: (tx: Transaction, item: R) => Effect.fn.Return<A, StoreUnavailable>,
): StoreEffect<ReadonlyArray<A>> =>
  Effect.flatMap(
    takeItems(db, name, items, hold, (tx, holder) =>
      tx.list(items.byHolder, holder === undefined ? [] : [holder]),
    ),
    (held) =>
      db.read(function* (tx) {
        return yield* Effect.forEach(yield* ofActive(tx, held), (item) => Effect.gen(() => shown(tx, item)));
      }),
  );

/** The leases of nodes for work on webhooks and role plans. */
import type { StoreEffect } from "@accountlink/core/errors";
import type { HoldItems } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { type Index, type Table, table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";

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

export interface Held {
  readonly holder: string | null;
}

interface Work<R extends Held> {
  readonly name: string;
  readonly items: Table<R>;
  /** The items by their holder, the empty text for none. */
  readonly byHolder: Index<R>;
}

/**
 * Renews the lease of a node, takes items that no live node holds, and returns the items of the node; none if its lease
 * ends now.
 */
export const holdItems = <R extends Held>(
  db: Database,
  { name, items, byHolder }: Work<R>,
  { node, at, until, limit }: HoldItems,
): StoreEffect<ReadonlyArray<R>> =>
  Effect.gen(function* () {
    yield* db.write(`${name} ${node}`, function* (tx) {
      if (until > at) yield* tx.put(leases, { work: name, node, until });
      else yield* tx.remove(leases, name, node);
    });
    if (until <= at) return [];
    const free = yield* db.read(function* (tx) {
      const live = new Set(yield* liveNodes(tx, name, at));
      return (yield* tx.list(byHolder, [])).filter(({ holder }) => holder === null || !live.has(holder));
    });
    for (const item of free.slice(0, limit)) {
      yield* db.write(`${name} ${node}`, function* (tx) {
        const stored = yield* tx.get(items, ...items.id(item));
        if (stored === undefined) return;
        const lease = stored.holder === null ? undefined : yield* tx.get(leases, name, stored.holder);
        if (lease === undefined || lease.until <= at) yield* tx.put(items, { ...stored, holder: node });
      });
    }
    return yield* db.read(function* (tx) {
      return yield* tx.list(byHolder, [node]);
    });
  });

/** The leases of nodes for work on webhooks and role plans. */
import type { StoreEffect, StoreUnavailable } from "@accountlink/core/errors";
import type { HoldItems } from "@accountlink/core/webhooks";
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

interface Held {
  readonly holder: string | null;
  readonly scope: ScopeRef;
}

/**
 * Renews the lease of a node, takes items that no live node holds, and returns the items of the node whose accounts are
 * active; none if its lease ends now.
 *
 * @param items has an index of the items by their holder, the empty text for none
 * @param shown returns null for an item that needs no work
 */
export const holdItems = <R extends Held, A>(
  db: Database,
  name: string,
  items: Table<R> & { readonly byHolder: Index<R> },
  { node, at, until, limit }: HoldItems,
  shown: (tx: Transaction, item: R) => Effect.fn.Return<A | null, StoreUnavailable>,
): StoreEffect<ReadonlyArray<A>> =>
  Effect.gen(function* () {
    yield* db.write(`${name} ${node}`, function* (tx) {
      if (until > at) yield* tx.put(leases, { work: name, node, until });
      else yield* tx.remove(leases, name, node);
    });
    if (until <= at) return [];
    const free = yield* db.read(function* (tx) {
      const live = new Set(yield* liveNodes(tx, name, at));
      return (yield* tx.list(items.byHolder, [])).filter(
        ({ holder }) => holder === null || !live.has(holder),
      );
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
      const held = yield* ofActive(tx, yield* tx.list(items.byHolder, [node]));
      const all = yield* Effect.forEach(held, (item) => Effect.gen(() => shown(tx, item)));
      return all.filter((each) => each !== null);
    });
  });

/** The leases of nodes for work on webhooks and role plans. */
import { type HoldItems, makeLeftLeases } from "@accountlink/core/records";
import { Effect, Function } from "effect";
import type { Database } from "../database.ts";
import { isFull, stepSize } from "../steps.ts";
import { type Index, keyOf, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";

interface Lease {
  readonly work: string;
  readonly node: string;
  readonly until: number;
}

export const leases = table<Lease>()("lease", ({ work, node }) => [work, node], {});

const leftLeases = Function.memoize((_: Database) => makeLeftLeases());

const isLive = (db: Database, { work, node, until }: Lease, at: number): boolean =>
  at < until && !leftLeases(db)(`${work} ${node}`, until, at);

/** The nodes whose leases have not ended. */
export const liveNodes = Effect.fnUntraced(function* (
  db: Database,
  tx: Transaction,
  work: string,
  at: number,
) {
  const found = yield* tx.scan(leases, [work]);
  return found.filter((lease) => isLive(db, lease, at)).map(({ node }) => node);
});

/** An item on which a node works; null if no node does. */
export interface Held {
  readonly holder: string | null;
}

/**
 * Renews the lease of a node, takes records that need a node and that no live node holds, and returns all that it holds;
 * none if its lease ends now.
 */
export const holdRecords = Effect.fnUntraced(function* <R extends Held>(
  db: Database,
  name: string,
  byHolder: Index<R>,
  isNeeded: (stored: R) => boolean,
  { node, at, until, limit }: HoldItems,
) {
  const { table: items } = byHolder;
  yield* db.write(`${name} ${node}`, function* (tx) {
    if (until > at) yield* tx.put(leases, { work: name, node, until });
    else yield* tx.remove(leases, name, node);
  });
  if (until <= at) return [];
  const free = yield* db.read(function* (tx) {
    if (limit === 0) return [];
    const live = new Set(yield* liveNodes(db, tx, name, at));
    const needed = (yield* tx.scan(items, [])).filter(isNeeded);
    return needed.filter(({ holder }) => holder === null || !live.has(holder));
  });
  for (let left = free.slice(0, limit); left.length > 0; ) {
    const some = left.slice(0, stepSize);
    const looked = yield* db.write(`${name} ${node}`, function* (tx) {
      yield* tx.prefetch(some.map((item) => keyOf(items, items.id(item))));
      for (const [index, item] of some.entries()) {
        if (index > 0 && isFull(tx)) return index;
        const stored = yield* tx.get(items, ...items.id(item));
        if (stored === undefined || !isNeeded(stored)) continue;
        const lease = stored.holder === null ? undefined : yield* tx.get(leases, name, stored.holder);
        if (lease === undefined || !isLive(db, lease, at)) yield* tx.put(items, { ...stored, holder: node });
      }
      return some.length;
    });
    left = left.slice(looked);
  }
  return yield* db.read((tx) => tx.list(byHolder, [node]));
});

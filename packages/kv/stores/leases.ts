/** The leases of nodes for work on webhooks and role plans. */
import { type HoldItems, makeLeftLeases } from "@accountlink/core/records";
import { recordTypes } from "@accountlink/core/storage";
import { dayMs } from "@accountlink/core/timestamp";
import { Clock, Effect, Function } from "effect";
import type { Database } from "../database.ts";
import { encode } from "../keys.ts";
import { kvIndex, nobody } from "../record_tables.ts";
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
 * Renews the lease of a node, takes records that need a node and that no live node holds, and returns all that it holds:
 * none if its lease ends now; null if these are the known ones.
 */
export const holdRecords = Effect.fnUntraced(function* <R extends Held>(
  db: Database,
  name: string,
  byHolder: Index<R>,
  isNeeded: (stored: R) => boolean,
  { node, at, until, limit, known }: HoldItems,
) {
  const { table: items } = byHolder;
  const before = yield* db.write(`${name} ${node}`, function* (tx) {
    const lease = yield* tx.get(leases, name, node);
    if (until > at) yield* tx.put(leases, { work: name, node, until });
    else yield* tx.remove(leases, name, node);
    return lease;
  });
  if (until <= at) return [];
  const free = yield* db.read(function* (tx) {
    if (limit === 0) return [];
    const live = new Set(yield* liveNodes(db, tx, name, at));
    const found = [...(yield* tx.list(byHolder, [nobody]))];
    // A step for each holder, however many records it has.
    for (let holder: string | null = nobody; holder !== null && found.length < limit; ) {
      const [next]: ReadonlyArray<R> = yield* tx.list(byHolder, [], { after: [holder], limit: 1 });
      holder = next?.holder ?? null;
      if (holder !== null && !live.has(holder))
        found.push(...(yield* tx.list(byHolder, [holder], { limit })));
    }
    // A node of the release before may have taken one that had no holder.
    return found.filter(({ holder }) => holder === null || !live.has(holder));
  });
  if (known !== undefined && free.length === 0 && before !== undefined && isLive(db, before, at)) return null;
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

/** When a start first found records to enter, and whether one did a day later, when no node of a release before was left. */
const entering = table<{ readonly since: number; readonly isOver: boolean }>()(
  "entering_unheld",
  () => [],
  {},
);

/** Enters records without a holder in the index by holder, in which releases before had none of them. */
export const enterUnheld = Effect.fnUntraced(function* (db: Database) {
  const now = yield* Clock.currentTimeMillis;
  const begun = yield* db.read((tx) => tx.get(entering));
  if (begun?.isOver === true) return;
  let isEmpty = true;
  for (const { held } of recordTypes) {
    if (held === null) continue;
    const byHolder = kvIndex(held.index) as unknown as Index<Held>;
    const { table: items } = byHolder;
    for (const item of yield* db.read((tx) => tx.scan(items, []))) {
      isEmpty = false;
      const [entry] = byHolder.keys(item);
      if (entry?.[0] !== nobody) continue;
      const [entered] = yield* db.kv.get([encode([byHolder.name, ...entry])]);
      if (entered !== null) continue;
      yield* db.write("carry over", function* (tx) {
        const found = yield* tx.remove(items, ...items.id(item));
        if (found !== undefined) yield* tx.put(items, found);
      });
    }
  }
  const isOver = begun !== undefined && now >= begun.since + dayMs;
  // A move refuses a target that has anything.
  if (isEmpty || (begun !== undefined && !isOver)) return;
  const ended = { since: begun?.since ?? now, isOver };
  yield* Effect.ignore(db.write("carry over", (tx) => tx.put(entering, ended)));
});

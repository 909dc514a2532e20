/** Removes what a deletion has left, in small transactions: the data of a scope's earlier epochs. */
import type { Pid } from "@accountlink/core";
import type { StoreEffect } from "@accountlink/core/errors";
import { Effect } from "effect";
import { inSteps, stepSize } from "../steps.ts";
import type { Index, Table } from "../table.ts";
import { table } from "../table.ts";
import type { Database } from "../transaction.ts";
import { reviews } from "./alt_review_store.ts";
import { blocks } from "./blocks.ts";
import { linkImports, madeLinks } from "./import_records.ts";
import { links } from "./links.ts";
import { scopes } from "./scopes.ts";
import { sightings } from "./sightings.ts";
import { suspects } from "./suspect_store.ts";

/** Marks a scope whose earlier epochs have data left. */
interface Purge {
  readonly pid: Pid;
}

export const purges = table<Purge>()("purge", ({ pid }) => [pid], {});

interface OfEpoch {
  readonly pid: Pid;
  readonly epoch: number;
}

const purge = <R extends OfEpoch>(
  db: Database,
  pid: Pid,
  epoch: number,
  of: Table<R>,
  index?: Index<R>,
): StoreEffect<number> =>
  inSteps(
    db,
    (tx) => {
      const options = { before: [epoch], limit: stepSize };
      return index === undefined ? tx.scan(of, [pid], options) : tx.list(index, [pid], options);
    },
    Effect.fnUntraced(function* (tx, found) {
      const stored = yield* tx.get(of, ...of.id(found));
      if (stored === undefined || stored.epoch >= epoch) return false;
      yield* tx.remove(of, ...of.id(found));
      return true;
    }),
  );

export const purgeScope = Effect.fnUntraced(function* (db: Database, pid: Pid) {
  const epoch = yield* db.read(function* (tx) {
    return (yield* tx.get(scopes, pid))?.epoch ?? 0;
  });
  yield* purge(db, pid, epoch, links, links.byChat);
  yield* purge(db, pid, epoch, sightings, sightings.byUserOfScope);
  yield* purge(db, pid, epoch, reviews, reviews.byScope);
  yield* purge(db, pid, epoch, suspects, suspects.newest);
  yield* purge(db, pid, epoch, blocks, blocks.newest);
  yield* purge(db, pid, epoch, madeLinks);
  yield* purge(db, pid, epoch, linkImports, linkImports.byScope);
  yield* db.write(pid, function* (tx) {
    yield* tx.remove(purges, pid);
  });
});

/** Goes on with deletions that were interrupted. */
export const purgeAll = Effect.fnUntraced(function* (db: Database) {
  const left = yield* db.read(function* (tx) {
    return yield* tx.scan(purges, []);
  });
  for (const { pid } of left) yield* purgeScope(db, pid);
});

/**
 * Removes what a deletion has left, in small transactions: the progress of a scope's files, and the data of its earlier
 * epochs.
 */
import type { Pid } from "@accountlink/core";
import { fileSources } from "@accountlink/core/imports";
import { recordTypes } from "@accountlink/core/storage";
import { Effect } from "effect";
import type { Database } from "../database.ts";
import { indexOfScope } from "../record_tables.ts";
import { removeInSteps } from "../steps.ts";
import type { Index, Table } from "../table.ts";
import { table } from "../table.ts";
import { blocks } from "./blocks.ts";
import { progress } from "./import_batch.ts";
import { links } from "./links.ts";
import { blockEpochOf, epochOf, type OfEpoch } from "./scopes.ts";

/** Marks a scope whose earlier epochs have data left. */
interface Purge {
  readonly pid: Pid;
}

export const purges = table<Purge>()("purge", ({ pid }) => [pid], {});

/** Removes how far files were imported into a scope, since their import begins anew once its data is deleted. */
export const forgetFiles = (db: Database, pid: Pid) => {
  const files = fileSources(pid);
  return removeInSteps(db, progress, [], { from: [files.from], before: [files.before] });
};

export const purgeScope = Effect.fnUntraced(function* (db: Database, pid: Pid) {
  yield* forgetFiles(db, pid);
  const epoch = yield* db.read((tx) => epochOf(tx, pid));
  const blockEpoch = yield* db.read((tx) => blockEpochOf(tx, pid));
  const purge = <R extends OfEpoch>(from: Table<R> | Index<R>, current = epoch) =>
    removeInSteps(db, from, [pid], { before: [current] }, (stored) => stored.epoch < current);

  yield* purge(links.byChat);
  for (const type of recordTypes) if (type.isOfScope) yield* purge(indexOfScope(type));
  yield* purge(blocks.newest, blockEpoch);
  yield* db.write(pid, (tx) => tx.remove(purges, pid));
});

/** Goes on with deletions that were interrupted. */
export const purgeAll = Effect.fnUntraced(function* (db: Database) {
  const left = yield* db.read((tx) => tx.scan(purges, []));
  for (const { pid } of left) yield* purgeScope(db, pid);
});

/** The rows that an SQL storage has for the records of this one, as a move reads and writes them. */
import {
  MoveRefused,
  type Row,
  type RowKey,
  type StorageRows,
  type StoreUnavailable,
} from "@accountlink/core";
import type { StoreEffect } from "@accountlink/core/errors";
import { keyRecords } from "@accountlink/core/keys";
import { isSameRow, movedTables, recordTypes, rootKeys } from "@accountlink/core/storage";
import { Effect } from "effect";
import { Database } from "../database.ts";
import { encode, rangeOf, type Tuple } from "../keys.ts";
import type { Kv } from "../kv.ts";
import { claimSchema, schemaFault } from "../schema.ts";
import { carryOver } from "../stores/carry_over.ts";
import { erasures } from "../stores/erase_user.ts";
import { requests } from "../stores/idempotency_store.ts";
import { leases } from "../stores/leases.ts";
import { counts } from "../stores/scopes.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { accountUnits } from "./accounts.ts";
import { journalUnits } from "./journal.ts";
import { linkUnits } from "./links.ts";
import { addPlaces, readPlaces } from "./places.ts";
import { recordUnit, type Unit, unit } from "./unit.ts";

const units = new Map<string, Unit>();
for (const each of [
  ...accountUnits,
  ...linkUnits,
  ...recordTypes.filter((type) => type !== keyRecords).map((type) => recordUnit(type)),
  ...journalUnits,
  unit({
    records: requests,
    relation: "idempotency_keys",
    columns: {
      id: "id",
      fingerprint: "fingerprint",
      answer: "answer",
      chat_ids: ["json", "chatIds"],
      ends_at: "endsAt",
    },
  }),
  // A table for each work in SQL, one table here.
  ...recordTypes.flatMap(({ name, held }) =>
    held === null
      ? []
      : unit({
          records: leases,
          relation: held.nodes,
          prefix: [name],
          columns: { id: "node", lives_until: "until" },
          fields: () => ({ work: name }),
        }),
  ),
  recordUnit(rootKeys),
])
  units.set(each.relation, each);

const unitOf = (name: string) => {
  const found = units.get(name);
  if (found === undefined) throw new Error(`Cannot move "${name}", expected a table of records`);
  return found;
};

/** The tables of records that are moved. @internal */
export const movedRecords: ReadonlyArray<string> = Array.from(units.values(), ({ records }) => records.name);

/** The most checks and changes of a row, such as a problem of a member. */
const [checksOfRow, changesOfRow] = [2, 60];

/** Marks a target into which a move is under way. Earlier releases had another mark for a copy of an engine. */
const moving = table<{ readonly rootKey: string; readonly place: string | null }>()(
  "moving_rows",
  () => [],
  {},
);

/** Whether a move into an engine is not finished. @internal */
export const isHalfMoved = (kv: Kv): Effect.Effect<boolean, StoreUnavailable> =>
  Effect.map(kv.get([encode([moving.name]), encode(["moving"])]), (found) =>
    found.some((entry) => entry !== null),
  );

/** Keys are printable ASCII. */
const allKeys = { start: "", end: "\x7f" };

/** Opens the rows. @internal */
export const openRows = Effect.fnUntraced(function* (
  kv: Kv,
  role: "source" | "target",
): Effect.fn.Return<StorageRows, MoveRefused | StoreUnavailable> {
  const db = new Database(kv);
  if (role === "source") {
    const fault = yield* schemaFault(kv);
    if (fault !== null) return yield* new MoveRefused({ reason: fault });
    yield* carryOver(db);
  }
  const places = yield* readPlaces(db);
  const page = Effect.fnUntraced(function* (name: string, after: RowKey | null) {
    const { records, prefix, limit, rowsOf } = unitOf(name);
    const bounds = after === null ? {} : { after: after.slice(prefix.length) as Tuple };
    const found = yield* db.read((tx) => tx.scan(records, prefix, { ...bounds, limit }));
    const rows: Array<{ readonly row: Row; readonly after: RowKey | null }> = [];
    let last = after;
    for (const record of found) {
      const all = rowsOf(record, places);
      const id = records.id(record);
      for (const [index, row] of all.entries())
        rows.push({ row, after: index === all.length - 1 ? id : last });
      last = id;
    }
    return { rows, after: found.length < limit ? null : last };
  });

  let ownRoot: string | null = null;
  /** Runs a transaction of a move. */
  const write = <A>(body: (tx: Transaction) => StoreEffect<A>) =>
    Effect.flatMap(
      db.write<{ readonly made: A } | null>("move", function* (tx) {
        const isOwn = (yield* tx.get(moving))?.rootKey === ownRoot;
        return isOwn ? { made: yield* body(tx) } : null;
      }),
      (done) => (done === null ? Effect.fail(MoveRefused.of("otherMove")) : Effect.succeed(done.made)),
    );

  return {
    tables: movedTables,

    page: (name, after) => refusing(page(name, after)),

    has: (name, rows) => {
      const { records, idOf, rowsOf } = unitOf(name);
      const found = db.read((tx) => tx.getAll(records, rows, (row) => idOf(row, places)));
      return refusing(
        Effect.map(found, (all) =>
          rows.every((row, index) => {
            const record = all[index];
            return record !== undefined && rowsOf(record, places).some((own) => isSameRow(name, row, own));
          }),
        ),
      );
    },

    count: Effect.fnUntraced(function* (name) {
      if (name === "erasures") return yield* kv.count(rangeOf(erasures.name, []));
      const { isWhole, records, prefix, rowsOf } = unitOf(name);
      if (isWhole) return yield* kv.count(rangeOf(records.name, prefix));
      const found = yield* db.read((tx) => tx.scan(records, prefix));
      return found.reduce((sum, record) => sum + rowsOf(record, places).length, 0);
    }),

    begin: Effect.fnUntraced(function* (rootKey) {
      const saved = yield* db.read((tx) => tx.get(moving));
      if (saved === undefined) {
        if ((yield* kv.count(allKeys)) > 0) return yield* MoveRefused.of("usedTarget");
        const isFirst = yield* db.write("move", (tx) => tx.create(moving, { rootKey, place: null }));
        if (!isFirst) return yield* MoveRefused.of("otherMove");
      } else if (saved.rootKey !== rootKey) return yield* MoveRefused.of("otherTarget");
      yield* Effect.orDie(claimSchema(kv));
      ownRoot = rootKey;
      return saved?.place ?? null;
    }),

    insert: (name, rows, placeAfter) =>
      refusing(
        Effect.gen(function* () {
          const { insert } = unitOf(name);
          addPlaces(places, name, rows);
          for (let done = 0; done < rows.length; ) {
            done = yield* write(
              Effect.fnUntraced(function* (tx) {
                let next = done;
                for (const row of rows.slice(done)) {
                  if (next > done && !tx.hasRoom(checksOfRow, changesOfRow)) break;
                  yield* insert(tx, row, places);
                  next++;
                }
                const place = placeAfter(next);
                yield* tx.put(moving, { rootKey: ownRoot ?? "", place });
                return next;
              }),
            );
          }
        }),
      ),

    end: write(
      Effect.fnUntraced(function* (tx) {
        yield* tx.put(counts, { name: "accounts", last: places.accounts.size });
        yield* tx.remove(moving);
      }),
    ),
  };
});

/** Fails if a record refers to one that was not there before. */
const refusing = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | MoveRefused> =>
  Effect.catchDefect(effect, (defect) =>
    defect instanceof MoveRefused ? Effect.fail(defect) : Effect.die(defect),
  );

/** The records on which a node works. */
import {
  heldAtOnce,
  type KeyPart,
  type RecordType,
  type StoreRecords,
  type Tx,
} from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Function } from "effect";
import { columnOf, isOnly, listIn, runOn, tableFor } from "./record_table.ts";
import { leasesOn } from "./statements/leases.ts";
import { literalSql } from "./statements/row.ts";
import type { Ending, StoreParts } from "./statements/store_operation.ts";

/** Makes `StoreRecords.hold`. */
export const holdOn = ({ sql, operation }: StoreParts, reading: Tx): StoreRecords["hold"] => {
  const leaseOf = Function.memoize((type: RecordType) => {
    if (type.held === null) return null;
    const { nodes, index, key = type.key[0] ?? "" } = type.held;
    const isNeeded = literalSql(index.only === undefined ? "1 = 1" : isOnly(type, index.only));
    return leasesOn(sql, { table: type.name, key: columnOf(type, key), nodes, isNeeded });
  });
  /** The decoded records of each node, by row: most rows stay the same, and decoding takes most of the time. */
  const heldBy = new Map<string, ReadonlyMap<string, never>>();
  const decodeHeld = (type: RecordType, node: string) => {
    const name = `${type.name} ${node}`;
    const before = heldBy.get(name);
    const held = new Map<string, never>();
    heldBy.delete(name);
    return Effect.fnUntraced(function* (rows: ReadonlyArray<Readonly<Record<string, unknown>>>) {
      const texts = rows.map((row) => JSON.stringify(row));
      const changed = rows.filter((_, at) => before?.has(texts[at] ?? "") !== true);
      const decoded = (yield* tableFor(type).read(Effect.succeed(changed))) as ReadonlyArray<never>;
      let next = 0;
      const records = texts.map((text) => before?.get(text) ?? (decoded[next++] as never));
      for (const [at, text] of texts.entries()) held.set(text, records[at] as never);
      if (held.size > 0) heldBy.set(name, held);
      return records;
    });
  };
  /** What `PRAGMA data_version` returned to each type of records. It changes when another process commits to the file. */
  const versions = new Map<RecordType, unknown>();
  /** Whether another process, such as the command line, has changed the file since the last call; it sends no signal. */
  const isChangedBeside = sql.onDialectOrElse({
    pg: () => () => Effect.succeed(false),
    orElse: () => (type: RecordType) =>
      Effect.map(sql`PRAGMA data_version`, ([row]) => {
        const isSame = versions.get(type) === row?.["data_version"];
        versions.set(type, row?.["data_version"]);
        return !isSame;
      }),
  });
  return (name, type, items, body) =>
    operation(name, function* () {
      assertStorable([items.node]);
      const lease = leaseOf(type);
      if (type.held === null || lease === null) return [];
      const rows = yield* lease(items);
      if (rows === "none") return [];
      if (rows === "same" && items.known !== undefined && !(yield* isChangedBeside(type)))
        return items.known as ReadonlyArray<never>;
      const { index } = type.held;
      const made: Array<never> = [];
      const decode = decodeHeld(type, items.node);
      // Behind a prefix, Postgres may read the records of all nodes in the order of their key.
      const before = [`${items.node}\u0001`];
      for (let after: ReadonlyArray<KeyPart> = [items.node, ""]; ; ) {
        const { text, values } = listIn(index, [], { limit: heldAtOnce, before, after });
        const found = yield* decode(yield* runOn(sql)(text, values));
        const part = body(reading, found) as Effect.fn.Return<ReadonlyArray<never>, Ending>;
        made.push(...(yield* part));
        const last: Readonly<Record<string, KeyPart>> | undefined = found.at(-1);
        if (last === undefined || found.length < heldAtOnce) return made;
        after = index.fields.map((field) => last[field] as KeyPart);
        yield* Effect.yieldNow;
      }
    })();
};

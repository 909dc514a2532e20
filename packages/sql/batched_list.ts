import type { RecordIndex } from "@accountlink/core/records";
import { columnOf, orderOf, tableFor } from "./record_table.ts";
import { batchedLookup } from "./statements/batching.ts";
import { literalSql } from "./statements/row.ts";
import type { StoreParts } from "./statements/store_operation.ts";

/** Lists the records of an index by its first field, with others that are listed in the same turn. */
export const batchedList = (parts: StoreParts, index: RecordIndex) => {
  const { sql, isAmong } = parts;
  const { select, read } = tableFor(index.type);
  const column = columnOf(index.type, index.fields[0] ?? "");
  const [from, order] = [`${select} WHERE ${column}`, `ORDER BY ${orderOf(index)}`].map(literalSql);
  const rows = batchedLookup<[string]>(parts, {
    columns: [column],
    one: (first) => sql`${from} = ${first} ${order}`,
    several: (firsts) => sql`${from} ${isAmong(firsts.flat())} ${order}`,
  });
  return (first: string) => read(rows(first));
};

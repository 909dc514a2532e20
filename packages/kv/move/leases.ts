/** The leases of nodes: a table for each work in SQL, one table here. */
import { recordTypes } from "@accountlink/core/storage";
import { leases } from "../stores/leases.ts";
import { type Unit, unit } from "./unit.ts";

/** The tables of nodes, by the work that their leases are for. */
const tables: Readonly<Record<string, string>> = Object.fromEntries(
  recordTypes.flatMap(({ name, held }) => (held === null ? [] : [[name, held.nodes]])),
);

export const leaseUnit: Unit = unit({
  records: leases,
  relation: "leases",
  fields: ({ nodes, id, lives_until: until }) => ({
    work: Object.keys(tables).find((work) => tables[work] === nodes),
    node: id,
    until,
  }),
  partTables: Object.values(tables),
  rowsOfParts: ({ work, node, until }) => {
    const table = tables[work];
    return table === undefined ? {} : { [table]: [{ id: node, lives_until: until }] };
  },
});

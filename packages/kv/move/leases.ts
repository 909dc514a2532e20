/** The leases of nodes: a table for each work in SQL, one table here. */
import { MoveRefused } from "@accountlink/core";
import { Clock, Effect } from "effect";
import { leases } from "../stores/leases.ts";
import type { Database } from "../transaction.ts";
import { type Unit, unit } from "./unit.ts";

/** The tables of nodes, by the work that their leases are for. */
const tables: Readonly<Record<string, string>> = {
  webhooks: "webhook_nodes",
  "role plans": "role_plan_nodes",
  guild_logs: "guild_log_nodes",
};

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

/** Refuses a source that a server uses: no engine keeps others from writing. */
export const refuseServers = Effect.fnUntraced(function* (db: Database) {
  const now = yield* Clock.currentTimeMillis;
  const held = yield* db.read((tx) => tx.scan(leases, []));
  const seconds = Math.ceil((Math.max(0, ...held.map(({ until }) => until)) - now) / 1_000);
  if (seconds <= 0) return;
  return yield* new MoveRefused({
    reason: `a server of the source is running, expected none (one that was killed counts for ${seconds} seconds more)`,
  });
});

/** Assigns rows of a table to the nodes that work on them. Other nodes take the rows of a dead node. */

import { type HoldItems, leaseShare, longestLease, makeLeftLeases } from "@accountlink/core/records";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "./dialect.ts";
import { columnReader, schemaReaderOf } from "./row.ts";

interface LeasedTable {
  /** The table whose rows are assigned to nodes. Its column `holder` is the ID of the node, or null. */
  readonly table: string;
  /** A column whose values are unique among the rows that meet `isNeeded`. */
  readonly key: string;
  /** The table of nodes, with the end of each node's lease. */
  readonly nodes: string;
  /** The SQL condition that is true for a row that a node must work on. */
  readonly isNeeded: Statement.Fragment;
}

/**
 * Returns a function that renews the lease of a node when it is due, and assigns rows to this node that no live node
 * holds. The function returns "none" if the node can hold no rows, and "same" if it has lost none and took none.
 */
export const leasesOn = (
  sql: SqlClient.SqlClient,
  { table: tableName, key: keyName, nodes: nodesName, isNeeded }: LeasedTable,
) => {
  const { isAnyOf, forUpdateUnlocked } = dialectOf(sql);
  const [table, key, nodes] = [sql(tableName), sql(keyName), sql(nodesName)];

  /** Returns the next holder in the index. So holders take a step each to find, however many rows they have. */
  const holderAfter = (holder: Statement.Fragment) => sql`(
    SELECT holder FROM ${table} WHERE ${isNeeded} AND holder > ${holder} ORDER BY holder LIMIT 1)`;

  /** Selects the holders that are no live nodes. */
  const deadHolders = (at: Millis) => sql`
    WITH RECURSIVE holders (node) AS (
      SELECT ${holderAfter(sql`''`)}
      UNION ALL SELECT ${holderAfter(sql`holders.node`)} FROM holders WHERE node IS NOT NULL
    )
    SELECT node FROM holders
    WHERE node IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${nodes} WHERE id = node AND lives_until > ${at})`;

  /**
   * Reads whether the node must renew its lease, and whether it can take rows. Runs without a transaction, because
   * usually nothing has to be written afterwards.
   */
  const readState = ({ node, at, limit }: HoldItems) =>
    readStates(sql`
      SELECT (SELECT lives_until FROM ${nodes} WHERE id = ${node}) AS lives_until,
        (SELECT COUNT(*) FROM ${nodes} WHERE lives_until > ${at + longestLease}) AS ahead,
        (SELECT COUNT(*) FROM (SELECT 1 FROM ${table} WHERE ${isNeeded} ORDER BY holder LIMIT 1) AS one) AS needed,
        (SELECT COUNT(*) FROM (
          SELECT 1 FROM ${table} WHERE ${isNeeded} AND holder IS NULL ORDER BY holder LIMIT ${Math.min(limit, 1)}
        ) AS other) + (SELECT COUNT(*) FROM (${deadHolders(at)} LIMIT ${Math.min(limit, 1)}) AS dead) AS free`);

  const isLeft = makeLeftLeases();

  const deleteLeft = Effect.fnUntraced(function* (at: Millis) {
    const ahead = yield* readLeases(
      sql`SELECT id, lives_until FROM ${nodes} WHERE lives_until > ${at + longestLease}`,
    );
    for (const { id, lives_until } of ahead)
      if (isLeft(id, lives_until, at))
        yield* sql`DELETE FROM ${nodes} WHERE id = ${id} AND lives_until = ${lives_until}`;
  });

  const takeFree = Effect.fnUntraced(function* ({ node, at, limit }: HoldItems) {
    const dead = yield* readDead(deadHolders(at));
    let left = limit;
    const ofDead = dead.map((id) => sql`holder >= ${id} AND holder <= ${id}`);
    // SQLite would scan all rows to find those that meet either condition. Postgres would without an order, which rows with
    // an equal holder have not.
    for (const isFree of [sql`holder IS NULL`, ...ofDead]) {
      if (left === 0) break;
      const free = sql`
        SELECT ${key} FROM ${table} WHERE ${isNeeded} AND ${isFree} ORDER BY holder LIMIT ${left} ${forUpdateUnlocked}`;
      const taken = yield* sql`
        UPDATE ${table} SET holder = ${node} WHERE ${isNeeded} AND ${key} ${isAnyOf(free)} RETURNING 1`;
      left -= taken.length;
    }
    yield* sql`DELETE FROM ${nodes} WHERE lives_until <= ${at}`;
    return left < limit;
  }, sql.withTransaction);

  return Effect.fnUntraced(function* (hold: HoldItems) {
    const { node, at, until } = hold;
    const [{ lives_until, ahead, needed, free } = noState] = yield* readState(hold);
    // The next call takes the rows of their nodes.
    if (ahead > 0) yield* deleteLeft(at);
    if (until <= at) {
      yield* sql`DELETE FROM ${nodes} WHERE id = ${node}`;
      return "none";
    }
    // A node that takes no rows has other work, which may be there without them.
    if (needed === 0 && hold.limit > 0) return "none";
    const left = lives_until === null ? 0 : lives_until - at;
    // A lease has more left than it lasts after the clock was set back.
    const isOld = left < leaseShare * (until - at) || left > until - at;
    if (isOld || free > 0) {
      // Commit the new lease before the node takes rows, so that other nodes do not consider this node dead.
      yield* sql`
        INSERT INTO ${nodes} (id, lives_until) VALUES (${node}, ${until})
        ON CONFLICT (id) DO UPDATE SET lives_until = excluded.lives_until`;
      if (yield* takeFree(hold)) return "others";
    }
    return left > 0 ? "same" : "others";
  });
};

const noState = { lives_until: null, ahead: 0, needed: 0, free: 0 };

const readStates = schemaReaderOf(
  "leases",
  Schema.Struct({
    lives_until: Schema.NullOr(Schema.Int),
    ahead: Schema.Int,
    needed: Schema.Int,
    free: Schema.Int,
  }),
);

const readLeases = schemaReaderOf("leases", Schema.Struct({ id: Schema.String, lives_until: Schema.Int }));

/** Returns the smallest ID, with a prefix, of the nodes whose leases have not ended. */
export const firstLiveNode = (sql: SqlClient.SqlClient, nodes: string, prefix: string, at: Millis) =>
  readNodes(sql`
    SELECT id FROM ${sql(nodes)}
    WHERE lives_until > ${at} AND substr(id, 1, ${prefix.length}) = ${prefix} ORDER BY id LIMIT 1`);

const readNodes = columnReader("nodes", "id", Schema.String);

const readDead = columnReader("nodes", "node", Schema.String);

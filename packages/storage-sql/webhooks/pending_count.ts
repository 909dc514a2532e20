import type { Webhook } from "@accountlink/core/webhooks";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader } from "../statements/row.ts";

/** Counts the events that a webhook has not delivered: those that failed or wait, and those after its position. */
export const pendingCountOn = (sql: SqlClient.SqlClient) => {
  const { isAmong } = dialectOf(sql);
  return ({ id, types, scope: { pid } }: Pick<Webhook, "id" | "types" | "scope">, position: number) => {
    const isWanted = types.length === 0 ? sql.literal("") : sql`AND type ${isAmong(JSON.stringify(types))}`;
    return Effect.map(
      Effect.flatMap(
        sql`
          SELECT (SELECT COUNT(*) FROM webhook_deliveries WHERE webhook_id = ${id} AND status IN ('failing', 'waiting'))
            + (SELECT COUNT(*) FROM events WHERE pid = ${pid} AND position > ${position} ${isWanted})
            + (SELECT COUNT(*) FROM events WHERE pid = ${pid} AND position IS NULL ${isWanted}) AS count`,
        readCounts,
      ),
      ([count = 0]) => count,
    );
  };
};

const readCounts = columnReader("webhooks", "count", Schema.Int);

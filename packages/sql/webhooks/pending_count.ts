import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

/** Counts, in a SELECT of `webhooks`, the undelivered events of a webhook: failed, waiting, or after its position. */
export const pendingCount = (sql: SqlClient.SqlClient): Statement.Fragment => {
  const types = sql.literal("webhooks.types");
  const isWanted = sql`(webhooks.types = '[]' OR events.type ${dialectOf(sql).isAmong(types)})`;
  return sql`(
    (SELECT COUNT(*) FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND webhook_deliveries.status IN ('failing', 'waiting'))
    + (SELECT COUNT(*) FROM events
      WHERE events.pid = webhooks.pid AND events.position > webhooks.position AND ${isWanted})
    + (SELECT COUNT(*) FROM events
      WHERE events.pid = webhooks.pid AND events.position IS NULL AND ${isWanted}))`;
};

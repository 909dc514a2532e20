/** Webhooks, the nodes that send them, and the delivery state of each event. */
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const webhooks = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  // All events of the scope up to `position` were sent or have a row in webhook_deliveries. holder is the node that
  // sends the webhook's events.
  yield* sql`
    CREATE TABLE webhooks (
      id ${text} NOT NULL PRIMARY KEY,
      pid ${text} NOT NULL REFERENCES scopes (pid),
      url ${text} NOT NULL,
      types ${text} NOT NULL,
      description ${text} NOT NULL,
      status ${text} NOT NULL,
      disabled_reason ${text},
      created_at ${integer} NOT NULL,
      last_delivered_at ${integer},
      failing_since ${integer},
      secrets ${text} NOT NULL,
      position ${integer} NOT NULL,
      holder ${text}
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX webhooks_by_scope ON webhooks (pid)`;

  yield* sql`
    CREATE TABLE webhook_nodes (
      id ${text} NOT NULL PRIMARY KEY,
      lives_until ${integer} NOT NULL
    ) ${tableByKey}`;

  // position is null for a test event. lane and other_lane are pseudonyms of the event's users, stored until the event
  // is sent.
  yield* sql`
    CREATE TABLE webhook_deliveries (
      webhook_id ${text} NOT NULL,
      event_id ${text} NOT NULL,
      position ${integer},
      type ${text} NOT NULL,
      at ${integer} NOT NULL,
      status ${text} NOT NULL,
      attempts ${integer} NOT NULL,
      resends ${integer} NOT NULL,
      response_status ${integer},
      error ${text},
      next_attempt_at ${integer},
      lane ${text},
      other_lane ${text},
      PRIMARY KEY (webhook_id, event_id)
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (webhook_id, status, event_id)`;
  yield* sql`
    CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, at)
    WHERE status IN ('failing', 'waiting')`;
  yield* sql`
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL`;
  for (const lane of ["lane", "other_lane"]) {
    yield* sql`
      CREATE INDEX ${sql(`webhook_deliveries_by_${lane}`)} ON webhook_deliveries (webhook_id, ${sql(lane)}, position)
      WHERE ${sql(lane)} IS NOT NULL`;
  }
});

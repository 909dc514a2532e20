/** Assigns webhooks to the nodes that send them. */
import type { HoldWebhooks } from "@accountlink/core/webhooks";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { schemaReaderOf } from "../statements/row.ts";
import { readHeldWebhooks, webhookColumns, webhookTables } from "./webhook_row.ts";

/** A node renews its row once this share of its lease has passed. */
const renewalShare = 0.3;

export const holdWebhooksOn = (sql: SqlClient.SqlClient) => {
  const take = takeOn(sql);
  const [columns, tables] = [sql.literal(webhookColumns), sql.literal(webhookTables)];

  /** Reads what the node has to write, without a transaction, since there is mostly nothing. */
  const readState = ({ node, at, limit }: HoldWebhooks) =>
    Effect.map(
      Effect.flatMap(
        sql`
          SELECT (SELECT lives_until FROM webhook_nodes WHERE id = ${node}) AS lives_until,
            (SELECT COUNT(*) FROM (SELECT 1 FROM webhooks LIMIT 1) AS one) AS webhooks_exist,
            (SELECT COUNT(*) FROM (
              SELECT 1 FROM webhooks WHERE ${isFree(sql, at)} LIMIT ${Math.min(limit, 1)}
            ) AS other) AS free`,
        readStates,
      ),
      ([state]) => state ?? { lives_until: null, webhooks_exist: 0, free: 0 },
    );

  return Effect.fnUntraced(function* (hold: HoldWebhooks) {
    const { node, at, until } = hold;
    const { lives_until, webhooks_exist, free } = yield* readState(hold);
    if (until <= at) {
      yield* sql`DELETE FROM webhook_nodes WHERE id = ${node}`;
      return [];
    }
    if (webhooks_exist === 0) return [];
    const isOld = lives_until === null || lives_until - at < (1 - renewalShare) * (until - at);
    if (isOld || free > 0) yield* take(hold);
    return yield* Effect.flatMap(
      sql`
        SELECT ${columns},
          (SELECT MIN(next_attempt_at) FROM webhook_deliveries
            WHERE webhook_id = webhooks.id AND next_attempt_at IS NOT NULL) AS next_attempt_at,
          (SELECT MIN(at) FROM webhook_deliveries
            WHERE webhook_id = webhooks.id AND status IN ('failing', 'waiting')) AS oldest_failing_at
        FROM ${tables} JOIN accounts ON accounts.name = scopes.account
        WHERE webhooks.holder = ${node} AND webhooks.status = 'active' AND accounts.status = 'active'
        ORDER BY webhooks.id`,
      readHeldWebhooks,
    );
  });
};

const isFree = (sql: SqlClient.SqlClient, at: number) => sql`(
  holder IS NULL OR NOT EXISTS (SELECT 1 FROM webhook_nodes WHERE id = holder AND lives_until > ${at}))`;

const takeOn = (sql: SqlClient.SqlClient) => {
  const { isAnyOf, forUpdateUnlocked } = dialectOf(sql);
  const takeFree = Effect.fnUntraced(function* ({ node, at, limit }: HoldWebhooks) {
    const free = sql`
      SELECT id FROM webhooks WHERE ${isFree(sql, at)} ORDER BY id LIMIT ${limit} ${forUpdateUnlocked}`;
    yield* sql`UPDATE webhooks SET holder = ${node} WHERE id ${isAnyOf(free)}`;
    yield* sql`DELETE FROM webhook_nodes WHERE lives_until <= ${at}`;
  }, sql.withTransaction);

  return Effect.fnUntraced(function* (hold: HoldWebhooks) {
    const { node, until } = hold;
    // Commits before it takes any webhook, so that other nodes that take webhooks now see this node as live.
    yield* sql`
      INSERT INTO webhook_nodes (id, lives_until) VALUES (${node}, ${until})
      ON CONFLICT (id) DO UPDATE SET lives_until = excluded.lives_until`;
    yield* takeFree(hold);
  });
};

const readStates = schemaReaderOf(
  "webhook_nodes",
  Schema.Struct({ lives_until: Schema.NullOr(Schema.Int), webhooks_exist: Schema.Int, free: Schema.Int }),
  (state) => state,
);

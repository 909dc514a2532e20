import { type ChatId, Pid } from "@accountlink/core";
import { eventWithoutUser, type Happening } from "@accountlink/core/events";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { schemaReaderOf } from "../statements/row.ts";

/**
 * Returns a function that takes a chat user out of their events, and returns the scopes of these. Scans all events,
 * which is acceptable for a rare operation.
 */
export const eraseEventsOn = (sql: SqlClient.SqlClient) => {
  const { elements, forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* (chatId: ChatId) {
    const named = yield* Effect.flatMap(
      sql`
        SELECT sequence, pid, type, data FROM events WHERE data LIKE ${`%"${chatId}"%`}
        ORDER BY sequence ${forUpdate}`,
      readNamed,
    );
    const erased = named.flatMap(({ sequence, pid, event }) => {
      const rest = eventWithoutUser(event, chatId);
      return rest === null ? [] : [{ sequence, pid, data: JSON.stringify(rest.data) }];
    });
    const rows = JSON.stringify(erased.map(({ sequence, data }) => [sequence, data]));
    yield* sql`
      UPDATE events SET data = value ->> 1
      FROM ${elements(rows)} WHERE sequence = CAST(value ->> 0 AS BIGINT)`;
    return erased.map(({ pid }) => pid);
  });
};

const readNamed = schemaReaderOf(
  "events",
  Schema.Struct({
    sequence: Schema.Int,
    pid: Pid,
    type: Schema.String,
    data: Schema.fromJsonString(Schema.Unknown),
  }),
  ({ sequence, pid, type, data }) => ({ sequence, pid, event: { type, data } as Happening }),
);

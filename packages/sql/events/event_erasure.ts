import { type ChatId, Pid } from "@accountlink/core";
import { eventWithoutUser, type Happening } from "@accountlink/core/events";
import { Effect, Schema } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { schemaReaderOf } from "../statements/row.ts";

/** How many events an erasure scans in one step. Other requests run between the steps. */
const scannedAtOnce = 10_000;

/** The events to scan: those in `sequences`, and every event whose sequence is greater than `after`. */
export interface EventsToErase {
  readonly sequences: ReadonlyArray<number>;
  readonly after: number;
}

/**
 * Returns a function that finds the events that may name a chat user. In SQLite, it scans all events before the
 * transaction that erases the user, since no index covers these events, and a long transaction would block all other
 * writes. In Postgres, the transaction scans all events itself: it does not block other writes, and an earlier scan
 * could miss events, since an event with a lower sequence may become visible later.
 */
export const findEventsToEraseOn = (sql: SqlClient.SqlClient) => {
  const { isRemote } = dialectOf(sql);
  return Effect.fnUntraced(function* (chatId: ChatId) {
    const sequences: Array<number> = [];
    if (isRemote) return { sequences, after: 0 } satisfies EventsToErase;
    const range = sql`SELECT MIN(sequence) AS sequence FROM events UNION ALL SELECT MAX(sequence) FROM events`;
    const [first = 0, last = 0] = yield* Effect.flatMap(range, readSequences);
    let after = first - 1;
    while (after < last) {
      const upTo = Math.min(after + scannedAtOnce, last);
      const found = sql`
        SELECT sequence FROM events WHERE sequence > ${after} AND sequence <= ${upTo} AND ${naming(sql, chatId)}`;
      sequences.push(...(yield* Effect.flatMap(found, readSequences)));
      after = upTo;
      yield* Effect.yieldNow;
    }
    return { sequences, after } satisfies EventsToErase;
  });
};

/** Returns a function that removes a chat user from events, and returns the scopes of the changed events. */
export const eraseEventsOn = (sql: SqlClient.SqlClient) => {
  const { elements, forUpdate, isAnyOf } = dialectOf(sql);
  const namedIn = (chatId: ChatId, isAmongThem: Statement.Fragment) =>
    Effect.flatMap(
      sql`
        SELECT sequence, pid, type, data FROM events WHERE ${isAmongThem} AND ${naming(sql, chatId)}
        ORDER BY sequence ${forUpdate}`,
      readNamed,
    );

  return Effect.fnUntraced(function* (chatId: ChatId, { sequences, after }: EventsToErase) {
    const found = elements(JSON.stringify(sequences.map((sequence) => [sequence])));
    // Two SELECTs find the events. If one SELECT used OR, SQLite would read the whole table. If it used UNION, Postgres
    // would lock no rows.
    const named = [
      ...(yield* namedIn(
        chatId,
        sql`sequence ${isAnyOf(sql`SELECT CAST(value ->> 0 AS BIGINT) FROM ${found}`)}`,
      )),
      ...(yield* namedIn(chatId, sql`sequence > ${after}`)),
    ];
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

const naming = (sql: SqlClient.SqlClient, chatId: ChatId) => sql`data LIKE ${`%"${chatId}"%`}`;

const readSequences = schemaReaderOf(
  "events",
  Schema.Struct({ sequence: Schema.NullOr(Schema.Int) }),
  ({ sequence }) => sequence ?? 0,
);

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

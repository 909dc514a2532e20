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
 * Finds the events that may name a chat user. In SQLite, it scans all events before the transaction that erases the
 * user, since no index covers these events, and a long transaction would block all other writes. In Postgres, the
 * transaction scans all events itself: it does not block other writes, and an earlier scan could miss events, since an
 * event with a lower sequence may become visible later.
 */
export const findEventsToErase = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, chatId: ChatId) {
  const sequences: Array<number> = [];
  if (dialectOf(sql).isRemote) return { sequences, after: 0 } satisfies EventsToErase;
  const range = sql`SELECT MIN(sequence) AS sequence FROM events UNION ALL SELECT MAX(sequence) FROM events`;
  const [first = 0, last = 0] = yield* readSequences(range);
  let after = first - 1;
  while (after < last) {
    const upTo = Math.min(after + scannedAtOnce, last);
    const found = sql`
      SELECT sequence FROM events WHERE sequence > ${after} AND sequence <= ${upTo} AND ${naming(sql, chatId)}`;
    sequences.push(...(yield* readSequences(found)));
    after = upTo;
    yield* Effect.yieldNow;
  }
  return { sequences, after } satisfies EventsToErase;
});

/** Removes a chat user from events, and returns the scopes of the changed events. */
export const eraseEvents = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  chatId: ChatId,
  { sequences, after }: EventsToErase,
) {
  const { elements, forUpdate, isAnyOf } = dialectOf(sql);
  const namedAmong = (some: Statement.Fragment) =>
    readNamed(sql`
      SELECT sequence, pid, type, data FROM events WHERE ${some} AND ${naming(sql, chatId)}
      ORDER BY sequence ${forUpdate}`);
  const known = sql`
    SELECT CAST(value ->> 0 AS BIGINT) FROM ${elements(JSON.stringify(sequences.map((each) => [each])))}`;
  // Two SELECTs find the events. If one SELECT used OR, SQLite would read the whole table. If it used UNION, Postgres
  // would lock no rows.
  const named = [
    ...(yield* namedAmong(sql`sequence ${isAnyOf(known)}`)),
    ...(yield* namedAmong(sql`sequence > ${after}`)),
  ];
  const erased = named.flatMap(({ sequence, pid, type, data }) => {
    const rest = eventWithoutUser({ type, data } as Happening, chatId);
    return rest === null ? [] : [{ pid, row: [sequence, JSON.stringify(rest.data)] }];
  });
  yield* sql`
    UPDATE events SET data = value ->> 1
    FROM ${elements(JSON.stringify(erased.map(({ row }) => row)))} WHERE sequence = CAST(value ->> 0 AS BIGINT)`;
  return erased.map(({ pid }) => pid);
});

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
);

/**
 * Writes and reads the journal. A record has a place: its scope, or its account. On SQLite, the table is clustered by
 * place, and the position of an event is the sequence of its record, so that a write changes one page of the table and one
 * of the index by user.
 */
import type { Pid } from "@accountlink/core";
import { type Actor, auditActions, signedBy } from "@accountlink/core/audit";
import { eventTypes } from "@accountlink/core/events";
import { type JournalRecord, timedNumbers, usersIn, withoutEntry } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Clock, Effect, Schema } from "effect";
import type { SqlClient, SqlConnection, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import type { StepStatements } from "../statements/one_step.ts";
import { columnReader, literalSql, readerOf } from "../statements/row.ts";
import { feedStart } from "./positions.ts";

/** A record of the table. The place of a scope is its pid. */
export interface StoredRecord extends JournalRecord {
  readonly place: string;
  /** Increases with every record of a place. */
  readonly sequence: number;
  /** The position in its place, which is the event's position in the feed; null for a record of Postgres that has none yet. */
  readonly position: number | null;
}

const accountPrefix = "account ";

/** The place of records that are about an account itself. The pids of scopes begin with `pid_`. */
export const accountPlace = (name: string): string => `${accountPrefix}${name}`;

export const pidOf = (place: string): Pid | null => (place.startsWith(accountPrefix) ? null : (place as Pid));

const timedNumber = timedNumbers();

/** Inserts records of one place in order, and returns their sequences. */
export const insertRecords = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  place: string,
  records: ReadonlyArray<JournalRecord>,
) {
  if (records.length === 0) return [];
  assertStorable(records.flatMap(({ event }) => event?.fields["clientId"] ?? []).filter(isText));
  const { elements, commitsInOrder } = dialectOf(sql);
  const values = sql`
    value ->> 0, CAST(value ->> 1 AS BIGINT), value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    value ->> 7, value ->> 8, value ->> 9, value ->> 10
    FROM ${elements(JSON.stringify(records.map(rowOf)))} RETURNING sequence`;
  if (!commitsInOrder)
    return yield* readSequences(sql`
      INSERT INTO journal (place, ${rowColumns}) SELECT ${place}, ${values}`);
  const number = timedNumber(yield* Clock.currentTimeMillis, records.length);
  return yield* readSequences(sql`
    INSERT INTO journal (place, sequence, ${rowColumns})
    SELECT ${place}, MAX(${number}, ${lastSequence(sql, place)} + 1) + key, ${values}`);
});

export const insertRecord = (sql: SqlClient.SqlClient, place: string, record: JournalRecord) =>
  Effect.map(insertRecords(sql, place, [record]), ([sequence]) => sequence as number);

/** Inserts a record on SQLite, in a transaction of one step. */
export const insertRecordNow = (
  statements: StepStatements,
  place: string,
  record: JournalRecord,
  now: Millis,
): void => {
  statements.run(insertionNow, [place, timedNumber(now), place, place, ...rowOf(record)]);
};

/** Inserts a part of a change that several transactions make, see `ImportTx.journalPart`. */
export const insertPart = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  place: string,
  record: JournalRecord,
  first: number | null,
  isTold = true,
) {
  if (first === null) return isTold ? yield* insertRecord(sql, place, record) : null;
  if (isTold) yield* insertRecord(sql, place, withoutEntry(record));
  const details = JSON.stringify(record.details);
  yield* sql`UPDATE journal SET details = ${details} WHERE place = ${place} AND sequence = ${first}`;
  return first;
});

/** Stores changed content of records. */
export const replaceRecords = (sql: SqlClient.SqlClient, records: ReadonlyArray<StoredRecord>) => {
  const rows = records.map((record) => [...rowOf(record), record.place, record.sequence]);
  return sql`
    UPDATE journal SET actor_type = value ->> 3, actor_id = value ->> 4, member = value ->> 5, request_id = value ->> 6,
      details = value ->> 7, fields = value ->> 8, chat_id = value ->> 9, other_chat_id = value ->> 10
    FROM ${dialectOf(sql).elements(JSON.stringify(rows))}
    WHERE place = value ->> 11 AND sequence = CAST(value ->> 12 AS BIGINT)`;
};

const rowColumns = literalSql(
  "event_id, at, action, actor_type, actor_id, member, request_id, details, fields, chat_id, other_chat_id",
);

const insertionNow = `
  INSERT INTO journal (place, sequence, event_id, at, action, actor_type, actor_id, member, request_id, details, fields,
    chat_id, other_chat_id)
  VALUES (?, MAX(?, COALESCE(
    (SELECT MAX(sequence) FROM journal WHERE place = ?), (SELECT position FROM feed_starts WHERE pid = ?), 0) + 1),
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const rowOf = (record: JournalRecord) => {
  const { at, action, actor, requestId, details, event } = record;
  const [chatId = null, otherChatId = null] = usersIn(record);
  const { id = null, fields } = event ?? {};
  const by = actor && signedBy({ actor });
  const author = [actor?.type ?? null, actor?.id ?? null, by?.member ?? null];
  const texts = [JSON.stringify(details), fields === undefined ? null : JSON.stringify(fields)];
  return [id, at, action, ...author, requestId, ...texts, chatId, otherChatId];
};

const isText = (value: unknown): value is string => typeof value === "string";

/** The last sequence of a place on SQLite, even if its record was deleted; 0 if the place never had one. */
const lastSequence = (sql: SqlClient.SqlClient, place: string): Statement.Fragment =>
  sql`COALESCE((SELECT MAX(sequence) FROM journal WHERE place = ${place}), ${feedStart(sql, place)})`;

const readSequences = columnReader("journal", "sequence", Schema.Int);

/** The column of positions in the feed: on SQLite, a record gets its position when it is inserted. */
export const positionOn = (sql: SqlClient.SqlClient): Statement.Fragment =>
  literalSql(dialectOf(sql).commitsInOrder ? "sequence" : "position");

export const recordColumnsOn = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  place, sequence, ${positionOn(sql)} AS position, event_id, at, action, actor_type, actor_id, member, request_id, details,
  fields`;

const actions: ReadonlySet<unknown> = new Set([...auditActions, ...eventTypes]);
const actorTypes: ReadonlySet<unknown> = new Set<Actor["type"]>(["key", "operator", "account", "user"]);

// Decoded without Schema, since reading a feed decodes many rows per page.
const recordIn = (row: SqlConnection.Row): StoredRecord | undefined => {
  const { place, sequence, position, at, action, request_id: requestId, event_id: id } = row;
  const { actor_type: type, actor_id: actorId, member } = row;
  const details = objectIn(row["details"]);
  const fields = id === null ? {} : objectIn(row["fields"]);
  const isWhole = [sequence, at].every(Number.isSafeInteger) && actions.has(action) && isText(place);
  const isSigned = type === null || (actorTypes.has(type) && isText(actorId));
  if (!isWhole || !isSigned || details === undefined || fields === undefined) return undefined;
  const actor = type === null ? null : { type, id: actorId, ...(type === "account" && { member }) };
  const event = id === null ? null : { id, fields };
  return { place, sequence, position, at, action, actor, requestId, details, event } as StoredRecord;
};

export const readRecords = readerOf("journal", recordIn);

const objectIn = (text: unknown): object | undefined => {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};

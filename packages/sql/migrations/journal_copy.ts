/**
 * On Postgres, copies events and entries into the journal before step 26, while nodes of the release before go on: a batch
 * a transaction, without a lock that they would wait for. What they write meanwhile is copied in rounds, until so little
 * is left that the step can copy it while writes wait.
 */
import { Effect } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { changeSchema } from "./change_schema.ts";
import { userOf } from "./earlier_nodes.ts";

const rowsOfBatch = 10_000;

/** How many rows of each kind the step itself may copy. */
const rowsOfRest = 1_000;

/**
 * How far the numbers of entries are behind those of events. Nodes of the release before may write as many events
 * during the copy.
 */
const headroom = 1_000_000_000;

type Step<A> = Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>;

// A row that was changed twice may be in its new place already.
const eventsIn = (condition: string, values: ReadonlyArray<string> = []): Step<unknown> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(
      `INSERT INTO journal (place, sequence, position, event_id, at, action, details, fields, chat_id, other_chat_id)
      SELECT pid, sequence, position, id, at, type, '{}', data, ${userIn("chatId")}, ${userIn("previousChatId")}
      FROM events WHERE ${condition} ORDER BY pid, sequence ON CONFLICT DO NOTHING`,
      values,
    ),
  );

const entriesIn = (condition: string, values: ReadonlyArray<string> = []): Step<unknown> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(
      `INSERT INTO journal (place, sequence, position, at, action, actor_type, actor_id, member, request_id, details,
        chat_id, other_chat_id)
      SELECT COALESCE(pid, 'account ' || account), sequence + shift, sequence + shift, at, action, actor_type, actor_id,
        member, request_id, details, chat_id, other_chat_id
      FROM audit_log, journal_copy WHERE ${condition} ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
      values,
    ),
  );

const userIn = (field: string): string => userOf("type", `data::json ->> '${field}'`);

const isBegun = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql`SELECT 1 WHERE to_regclass('journal_copy') IS NOT NULL`, (rows) => rows.length > 0),
);

const triggerOn = (table: string): string => `
  CREATE TRIGGER journal_copy AFTER UPDATE OR DELETE ON ${table}
  FOR EACH ROW EXECUTE FUNCTION journal_copy_changed()`;

/** The tables in the order in which a write of these nodes locks them. */
const tables = ["audit_log", "events"];

/** The ends of both tables. Without writes in flight, no row appears later below them. */
const ends = `(SELECT COALESCE(MAX(sequence), 0) FROM events) AS events_to,
  (SELECT COALESCE(MAX(sequence), 0) FROM audit_log) AS entries_to`;

/** A trigger waits for the writes in flight. The numbers of positions take long to read, so they are read before. */
const begin = (table: Step<void>): Step<void> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    yield* table;
    yield* sql.unsafe("CREATE TABLE journal_copy_changes (source TEXT, place TEXT, sequence BIGINT)");
    yield* sql.unsafe(`
      CREATE FUNCTION journal_copy_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_TABLE_NAME = 'events' THEN
          INSERT INTO journal_copy_changes VALUES ('events', OLD.pid, OLD.sequence);
        ELSE
          INSERT INTO journal_copy_changes
          VALUES ('audit_log', COALESCE(OLD.pid, 'account ' || OLD.account), OLD.sequence);
        END IF;
        RETURN NULL;
      END $$`);
    // Behind the shift, no sequence of an entry is the position of an event.
    const [{ shift } = { shift: 0 }] = yield* sql.unsafe<{ readonly shift: number }>(`
      SELECT COALESCE(MAX(number), 0) + ${headroom} AS shift FROM (
        SELECT MAX(sequence) AS number FROM events
        UNION ALL SELECT MAX(position) FROM events
        UNION ALL SELECT MAX(position) FROM feed_starts) AS numbers`);
    for (const each of tables) yield* sql.unsafe(triggerOn(each));
    yield* sql.unsafe(`
      CREATE TABLE journal_copy AS SELECT ${shift}::bigint AS shift, ends.*, 0::bigint AS events_done,
        0::bigint AS entries_done, false AS has_indexes FROM (SELECT ${ends}) AS ends`);
  });

interface Progress {
  readonly shift: number;
  readonly events_to: number;
  readonly events_done: number;
  readonly entries_to: number;
  readonly entries_done: number;
  readonly has_indexes: boolean;
}

/** Returns the number of the last row of the next batch. */
const batchOf = (table: string, done: number, to: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql.unsafe<{ readonly last: number | null }>(
        `SELECT MAX(sequence) AS last FROM (
          SELECT sequence FROM ${table} WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT ${rowsOfBatch}
        ) AS batch`,
        [done, to],
      ),
      ([row]) => row?.last ?? to,
    ),
  );

/** Copies the next batch, and returns whether more is left. A copy that was cut off goes on. */
export const copyNext = (table: Step<void>, indexes: Step<void>): Step<boolean> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    if (!(yield* isBegun)) return yield* Effect.as(begin(table), true);
    const [progress] = yield* sql<Progress>`SELECT * FROM journal_copy FOR UPDATE`;
    if (progress === undefined) return false;
    for (const [source, column, done, to, copy] of [
      ["events", "events_done", progress.events_done, progress.events_to, eventsIn],
      ["audit_log", "entries_done", progress.entries_done, progress.entries_to, entriesIn],
    ] as const) {
      if (done >= to) continue;
      const last = yield* batchOf(source, done, to);
      yield* copy(`sequence > ${done} AND sequence <= ${last}`);
      yield* sql.unsafe(`UPDATE journal_copy SET ${column} = $1`, [last]);
      return true;
    }
    if (progress.has_indexes) return false;
    yield* indexes;
    yield* sql`UPDATE journal_copy SET has_indexes = true`;
    return false;
  });

interface Change {
  readonly source: "events" | "audit_log";
  readonly place: string;
  readonly sequence: number;
}

/** Copies rows again that were changed since their copy. A change of a row that is still to come is in its copy. */
const copyChanged = Effect.fnUntraced(function* (most: number | "ALL") {
  const sql = yield* SqlClient.SqlClient;
  const changes = yield* sql.unsafe<Change>(`
    DELETE FROM journal_copy_changes
    WHERE ctid = ANY (ARRAY (SELECT ctid FROM journal_copy_changes LIMIT ${most})) RETURNING source, place, sequence`);
  const [progress] = yield* sql<Progress>`SELECT * FROM journal_copy`;
  if (progress === undefined || changes.length === 0) return;
  const { shift, events_done, entries_done } = progress;
  const copies = changes.map(({ source, place, sequence }) => ({
    place,
    sequence: source === "events" ? sequence : sequence + shift,
  }));
  yield* sql.unsafe(
    `DELETE FROM journal USING json_to_recordset($1::json) AS changed (place TEXT, sequence BIGINT)
    WHERE journal.place = changed.place AND journal.sequence = changed.sequence`,
    [JSON.stringify(copies)],
  );
  const isChanged = "sequence = ANY (ARRAY (SELECT json_array_elements_text($1::json)::bigint))";
  const numbersOf = (table: Change["source"]) =>
    JSON.stringify(changes.filter(({ source }) => source === table).map(({ sequence }) => sequence));
  yield* eventsIn(`sequence <= ${events_done} AND ${isChanged}`, [numbersOf("events")]);
  yield* entriesIn(`sequence <= ${entries_done} AND ${isChanged}`, [numbersOf("audit_log")]);
});

/** Copies what was written since the last round, after `copyNext`. Returns whether more is left. */
export const copyRound: Step<boolean> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const isMore = (rows: string) =>
    Effect.map(
      sql.unsafe(
        `SELECT 1 FROM (SELECT FROM ${rows} LIMIT ${rowsOfRest + 1}) AS rows HAVING COUNT(*) > ${rowsOfRest}`,
      ),
      (found) => found.length > 0,
    );
  if (yield* isMore("journal_copy_changes")) return yield* Effect.as(copyChanged(rowsOfBatch), true);
  const isLonger =
    (yield* isMore("events WHERE sequence > (SELECT events_to FROM journal_copy)")) ||
    (yield* isMore("audit_log WHERE sequence > (SELECT entries_to FROM journal_copy)"));
  if (!isLonger) return false;
  yield* sql.unsafe(`LOCK TABLE ${tables.join(", ")} IN SHARE ROW EXCLUSIVE MODE`);
  yield* sql.unsafe(`
    UPDATE journal_copy SET events_to = GREATEST(journal_copy.events_to, ends.events_to),
      entries_to = GREATEST(journal_copy.entries_to, ends.entries_to) FROM (SELECT ${ends}) AS ends`);
  return true;
});

/** Copies what was written and changed since the rounds. Nobody may write meanwhile, so nothing scans a whole table. */
export const copyRest: Step<void> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* copyChanged("ALL");
  yield* eventsIn("sequence > (SELECT events_to FROM journal_copy)");
  yield* entriesIn("sequence > (SELECT entries_to FROM journal_copy)");
  yield* sql`UPDATE link_imports SET entry = entry + shift, undo_entry = undo_entry + shift FROM journal_copy`;
  yield* sql`UPDATE block_removals SET entry = entry + shift FROM journal_copy`;
  // Entries are behind all events.
  yield* sql`
    SELECT setval(pg_get_serial_sequence('journal', 'sequence'), COALESCE(
      (SELECT MAX(sequence) FROM audit_log) + (SELECT shift FROM journal_copy), (SELECT MAX(sequence) FROM events), 0) + 1,
      false)`;
});

/** Drops what the copy needed, after the tables that it has copied. */
export const endCopy: Step<void> = changeSchema(
  "DROP FUNCTION journal_copy_changed(); DROP TABLE journal_copy_changes; DROP TABLE journal_copy",
);

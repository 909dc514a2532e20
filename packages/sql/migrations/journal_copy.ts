/**
 * On Postgres, copies events and entries into the journal before step 26, while nodes of the release before go on: a batch
 * a transaction, without a lock that they would wait for. The step itself then moves only what was written meanwhile.
 */
import { Effect } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { changeSchema } from "./change_schema.ts";
import { userOf } from "./earlier_nodes.ts";

const rowsOfBatch = 10_000;

/**
 * How far the numbers of entries are behind those of events. Nodes of the release before may write as many events
 * during the copy.
 */
const headroom = 1_000_000_000;

type Step<A> = Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>;

const eventsIn = (condition: string): Step<unknown> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(`
      INSERT INTO journal (place, sequence, position, event_id, at, action, details, fields, chat_id, other_chat_id)
      SELECT pid, sequence, position, id, at, type, '{}', data, ${userIn("chatId")}, ${userIn("previousChatId")}
      FROM events WHERE ${condition} ORDER BY pid, sequence`),
  );

const entriesIn = (condition: string): Step<unknown> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(`
      INSERT INTO journal (place, sequence, position, at, action, actor_type, actor_id, member, request_id, details,
        chat_id, other_chat_id)
      SELECT COALESCE(pid, 'account ' || account), sequence + shift, sequence + shift, at, action, actor_type, actor_id,
        member, request_id, details, chat_id, other_chat_id
      FROM audit_log, journal_copy WHERE ${condition} ORDER BY 1, 2`),
  );

const userIn = (field: string): string => userOf("type", `data::json ->> '${field}'`);

const isBegun = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql`SELECT 1 WHERE to_regclass('journal_copy') IS NOT NULL`, (rows) => rows.length > 0),
);

const triggerOn = (table: string): string => `
  CREATE TRIGGER journal_copy AFTER UPDATE OR DELETE ON ${table}
  FOR EACH ROW EXECUTE FUNCTION journal_copy_changed()`;

/** A trigger waits for the writes in flight, so that no row appears later below the numbers that are read then. */
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
    for (const each of ["events", "audit_log"]) yield* sql.unsafe(triggerOn(each));
    // Behind the shift, no sequence of an entry is the position of an event.
    yield* sql.unsafe(`
      CREATE TABLE journal_copy AS SELECT
        (SELECT COALESCE(MAX(number), 0) + ${headroom} FROM (
          SELECT MAX(sequence) AS number FROM events
          UNION ALL SELECT MAX(position) FROM events
          UNION ALL SELECT MAX(position) FROM feed_starts) AS numbers) AS shift,
        (SELECT COALESCE(MAX(sequence), 0) FROM events) AS events_to, 0::bigint AS events_done,
        (SELECT COALESCE(MAX(sequence), 0) FROM audit_log) AS entries_to, 0::bigint AS entries_done,
        false AS has_indexes`);
  });

interface Progress {
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

const changed = (source: string): string =>
  `sequence IN (SELECT changed.sequence FROM journal_copy_changes AS changed WHERE source = '${source}')`;

/** Copies what was written and changed since. Nobody may write meanwhile. */
export const copyRest: Step<void> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`
    DELETE FROM journal USING journal_copy_changes AS changed, journal_copy
    WHERE journal.place = changed.place AND journal.sequence =
      changed.sequence + CASE changed.source WHEN 'events' THEN 0 ELSE journal_copy.shift END`;
  yield* eventsIn(`sequence > (SELECT events_to FROM journal_copy) OR ${changed("events")}`);
  yield* entriesIn(`sequence > entries_to OR ${changed("audit_log")}`);
  yield* sql`UPDATE link_imports SET entry = entry + shift, undo_entry = undo_entry + shift FROM journal_copy`;
  yield* sql`UPDATE block_removals SET entry = entry + shift FROM journal_copy`;
  yield* sql`
    SELECT setval(
      pg_get_serial_sequence('journal', 'sequence'), (SELECT COALESCE(MAX(sequence), 0) + 1 FROM journal), false)`;
});

/** Drops what the copy needed, after the tables that it has copied. */
export const endCopy: Step<void> = changeSchema(
  "DROP FUNCTION journal_copy_changed(); DROP TABLE journal_copy_changes; DROP TABLE journal_copy",
);

/**
 * Implements `LinkStore.setGame`: links of one scope, with their audit entries and events.
 *
 * Only the statement that writes a link knows what it replaced, so the JSON of entries and events has placeholders
 * that SQL fills. In Postgres all writes are one statement that commits with its answer, so a client that writes
 * alone waits once.
 */
import type { ChatId, GameId } from "@accountlink/core";
import { signedBy } from "@accountlink/core/audit";
import { linkSet, newEvent, sourceOf } from "@accountlink/core/events";
import type { GameSet, SetGame } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Exit } from "effect";
import type { SqlClient, SqlError, Statement } from "effect/sql";
import { lastPosition } from "../events/event_writes.ts";
import { batched, withSpanLinks } from "../statements/batching.ts";
import { DatabaseClock } from "../statements/database_clock.ts";
import { dialectOf } from "../statements/dialect.ts";
import { type DirectWrites, isInTransaction, type Rows } from "../statements/direct_writes.ts";
import { UnreadableRow } from "../statements/row.ts";
import { textOf } from "./link_queries.ts";
import { byChatId, type ChatLine, recordColumns, setIn } from "./link_row.ts";
import { relinkOf } from "./link_statements.ts";

type Failure = SqlError.SqlError | UnreadableRow;
type Outcome = Exit.Exit<GameSet, UnreadableRow>;

/** Writes of different chat users in one scope. A statement cannot write a row twice. */
type Round = ReadonlyMap<ChatId, SetGame>;

/** Writes to one scope from the same turn of the event loop share a commit, which costs more than their rows. */
export const setGameOn = (
  sql: SqlClient.SqlClient,
  { transaction, atOnce }: DirectWrites,
): ((write: SetGame) => Effect.Effect<GameSet, Failure>) => {
  const { texts, valuesOf } = setStatements(sql);
  const clock = new DatabaseClock();

  const setInTransaction = (rounds: ReadonlyArray<Round>) => {
    const statements = rounds.flatMap((round) => {
      const values = valuesOf(round, Number.MAX_SAFE_INTEGER);
      return texts.map((text) => ({ text, values }));
    });
    return Effect.map(transaction(statements), (results) => {
      clock.saw(results[0]?.[0]?.["now"]);
      return new Map(rounds.flatMap((round, i) => outcomesOf(round, results[i * texts.length] ?? [])));
    });
  };

  /** Falls back to a transaction if the deadline has passed or the database clock is unknown. */
  const setAtOnce = (round: Round) => {
    const [deadline, [text = ""]] = [clock.timeIn(1_000), texts];
    if (atOnce === undefined || deadline === undefined) return setInTransaction([round]);
    return Effect.flatMap(atOnce({ text, values: valuesOf(round, deadline) }), (rows) => {
      if (rows.length === 0) return setInTransaction([round]);
      clock.saw(rows[0]?.["now"]);
      return Effect.succeed(new Map(outcomesOf(round, rows)));
    });
  };

  const setTogether = (writes: ReadonlyArray<SetGame>) => {
    const rounds = roundsOf(writes);
    const [round] = rounds;
    const outcomes = rounds.length === 1 && round !== undefined ? setAtOnce(round) : setInTransaction(rounds);
    return Effect.map(outcomes, (of) => writes.map((write) => of.get(write) as Outcome));
  };
  const setAlone = (write: SetGame) => outcomeOf(write, setAtOnce(roundOf(write)));
  const setNested = (write: SetGame) => outcomeOf(write, setInTransaction([roundOf(write)]));

  const set = batched<SetGame, GameSet, Failure>(
    (writes, contexts) => withSpanLinks(contexts, setTogether(writes)),
    // Batches per scope, so that no write waits for another scope that is being deleted.
    { maxSize: maxBatchSize, groupOf: ({ pid }) => pid, runOne: atOnce && setAlone },
  );
  return (write) =>
    Effect.withFiber(({ context }) => (isInTransaction(sql, context) ? setNested(write) : set(write)));
};

const roundOf = (write: SetGame): Round => new Map([[write.chatId, write]]);

const outcomeOf = (
  write: SetGame,
  outcomes: Effect.Effect<ReadonlyMap<SetGame, Outcome>, SqlError.SqlError>,
) => Effect.flatMap(outcomes, (of) => of.get(write) as Outcome);

const maxBatchSize = 100;

const roundsOf = (writes: ReadonlyArray<SetGame>): ReadonlyArray<Round> => {
  const rounds: Array<Map<ChatId, SetGame>> = [];
  for (const write of writes) {
    const round = rounds.find((others) => !others.has(write.chatId));
    if (round === undefined) rounds.push(new Map([[write.chatId, write]]));
    else round.set(write.chatId, write);
  }
  return rounds;
};

/** A damaged record fails only its own write. */
const outcomesOf = (round: Round, rows: Rows): ReadonlyArray<readonly [SetGame, Outcome]> => {
  const sets = new Map(rows.map((row) => [row["chat_id"], setIn(row)]));
  return [...round].map(([chatId, write]) => {
    if (rows.length === 0) return [write, Exit.die(new Error(`Cannot set links: no scope "${write.pid}"`))];
    const set = sets.get(chatId);
    return [write, set === undefined ? Exit.fail(new UnreadableRow({ table: "links" })) : Exit.succeed(set)];
  });
};

/** Placeholders in the JSON for values of the row. They are not valid IDs, and the contract does not use them. */
const gaps = { linkVersion: "?version" as unknown as number, previousGameId: "?game" as GameId };

/** The values that the statements read of a write, by position. */
const lineOf = ({ chatId, gameId, at, actor, requestId }: SetGame, index: number): ChatLine => {
  const { linkVersion, previousGameId } = gaps;
  const record = { chatId, gameId, linkVersion, linkedAt: at, lastVerifiedAt: at };
  const event = newEvent(at, linkSet(record, previousGameId, sourceOf(actor)));
  const stored = [event.id, JSON.stringify(event.data)];
  const details = JSON.stringify({ chatId, gameId, previousGameId });
  return [
    chatId,
    gameId,
    at,
    index + 1,
    ...stored,
    actor.type,
    actor.id,
    requestId,
    details,
    signedBy({ actor }).member,
  ];
};

/**
 * Constant statements that store links, entries and events, and their values. The first statement returns the links.
 */
const setStatements = (sql: SqlClient.SqlClient) => {
  const { elements, forReference, commitsInOrder, isRemote, now } = dialectOf(sql);
  const set = sql.literal(`${recordColumns}, previous_game_id`);
  const at = sql.literal("CAST(value ->> 2 AS BIGINT)");

  const line = sql`line AS (SELECT value FROM ${elements("")})`;
  // A subquery is evaluated once: all links are set, or none.
  const untilDeadline = isRemote ? sql`AND (SELECT ${now}) <= CAST(${0} AS BIGINT)` : sql.literal("");
  // Lock the scope before the records, like deleteScope, and sort the records, to avoid deadlocks.
  const links = sql`
    INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    SELECT pid, value ->> 0, value ->> 1, 1, ${at}, ${at}
    FROM scopes, line WHERE pid = ${""} ${untilDeadline} ${forReference}
    ON CONFLICT (pid, chat_id) ${relinkOf(sql)}
    RETURNING pid, ${set}`;
  const changedIn = (written: string) => sql`
    SELECT written.pid, account, chat_id, previous_game_id, link_version, value
    FROM line CROSS JOIN scopes CROSS JOIN ${sql.literal(written)} AS written
    WHERE scopes.pid = ${""} AND written.pid = scopes.pid AND chat_id = value ->> 0
      AND previous_game_id IS DISTINCT FROM game_id`;
  const filled = (json: string) => sql`
    replace(
      replace(${sql.literal(json)}, ${sql.literal(`'"${gaps.linkVersion}"'`)}, CAST(link_version AS TEXT)),
      ${sql.literal(`'"${gaps.previousGameId}"'`)},
      COALESCE('"' || previous_game_id || '"', 'null')
    )`;
  const position = commitsInOrder
    ? sql`${lastPosition(sql, sql.literal("changed.pid"))} + CAST(value ->> 3 AS BIGINT)`
    : sql`CAST(NULL AS BIGINT)`;
  const events = sql`
    INSERT INTO events (pid, position, id, type, at, data)
    SELECT pid, ${position}, value ->> 4, 'link.set', ${at}, ${filled("value ->> 5")} FROM changed`;
  const entries = sql`
    INSERT INTO audit_log (at, account, pid, actor_type, actor_id, request_id, action, details, chat_id, member)
    SELECT ${at}, account, pid, value ->> 6, value ->> 7, value ->> 8, 'link.set', ${filled("value ->> 9")}, chat_id,
      value ->> 10
    FROM changed`;
  const allInOne = sql`
    WITH ${line}, written AS (${links}), changed AS (${changedIn("written")}), event AS (${events}), entry AS (${entries})
    SELECT ${set}, ${now} AS now FROM written`;
  const afterwards = (insert: Statement.Fragment) =>
    sql`WITH ${line}, changed AS (${changedIn("links")}) ${insert}`;
  const statements = isRemote
    ? [allInOne]
    : [sql`WITH ${line} ${links}`, ...[events, entries].map(afterwards)];

  return {
    texts: statements.map(textOf),
    valuesOf: (round: Round, deadline: Millis) => {
      const writes = [...round.values()];
      const [lines, pid] = [JSON.stringify(writes.map(lineOf).toSorted(byChatId)), writes[0]?.pid ?? ""];
      return isRemote ? [lines, pid, deadline, pid] : [lines, pid];
    },
  };
};

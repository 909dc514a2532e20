/**
 * Implements `LinkStore.setGame`, which stores links of one scope with their audit entries and events.
 *
 * Only the statement that writes a link knows the game that the link had before. So SQL makes the JSON of the entries
 * and events. On Postgres, a single statement writes and commits links, entries and events, so that a write usually
 * takes only one round trip to the database.
 */
import type { ChatId, LinkStore } from "@accountlink/core";
import { type EventData, newEventId, sourceOf } from "@accountlink/core/events";
import type { GameSet, SetGame } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Context, Effect, Exit } from "effect";
import type { SqlClient, SqlConnection, SqlError, Statement } from "effect/sql";
import { lastPosition } from "../events/event_writes.ts";
import { batched, withSpanLinks } from "../statements/batching.ts";
import { dialectOf } from "../statements/dialect.ts";
import { DatabaseClock, type DirectWrites, type Rows } from "../statements/direct_writes.ts";
import { UnreadableRow } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { textOf } from "./link_queries.ts";
import { byChatId, type ChatLine, recordColumns, setIn } from "./link_row.ts";
import { relinkOf } from "./link_statements.ts";

type Failure = SqlError.SqlError | UnreadableRow;
type Outcome = Exit.Exit<GameSet, UnreadableRow>;

/**
 * Changes that one statement can store together. All belong to one scope, and each to another chat user, because a
 * statement cannot write a row twice.
 */
type Round = ReadonlyMap<ChatId, SetGame>;

/** How long a statement outside of a transaction may take to reach the database, in milliseconds. */
const longestWay = 1_000;

/**
 * Implements `LinkStore.setGame`. Writes to one scope in the same turn of the event loop are committed together,
 * because a commit costs more than the writes themselves. A write in a transaction of its fiber is part of that
 * transaction instead.
 */
export const setGameOn = (
  sql: SqlClient.SqlClient,
  direct: DirectWrites | null,
): LinkStore["Service"]["setGame"] => {
  const { texts, valuesOf } = setStatements(sql);
  const clock = new DatabaseClock();
  const run: DirectWrites["transaction"] = (statements) =>
    Effect.forEach(statements, ({ text, values }) => sql.unsafe<SqlConnection.Row>(text, values));
  const { transaction, atOnce }: DirectWrites = direct ?? {
    transaction: (statements) => sql.withTransaction(run(statements)),
  };

  const storeBy =
    (runAll: DirectWrites["transaction"]): Store =>
    (rounds) => {
      const statements = rounds.flatMap((round) => {
        const values = valuesOf(round, Number.MAX_SAFE_INTEGER);
        return texts.map((text) => ({ text, values }));
      });
      return Effect.map(runAll(statements), (results) =>
        rounds.map((_, i) => results[i * texts.length] ?? []),
      );
    };
  const storeInCurrentTransaction = storeBy(run);
  const storeInNewTransaction = storeBy(transaction);

  /**
   * Stores the rounds in a new transaction. But on Postgres, once the time of its clock is known, one statement without
   * a transaction stores a single round. If this statement arrives after `longestWay`, it stores nothing, and a
   * transaction stores the round.
   */
  const storeAtOnce: Store = (rounds) => {
    const [round, ...more] = rounds;
    const deadline = clock.timeIn(longestWay);
    if (atOnce === undefined || deadline === undefined || round === undefined || more.length > 0) {
      return storeInNewTransaction(rounds);
    }
    const written = atOnce({ text: texts[0] ?? "", values: valuesOf(round, deadline) });
    return Effect.flatMap(written, (rows) =>
      rows.length === 0 ? storeInNewTransaction(rounds) : Effect.succeed([rows]),
    );
  };
  const store: Store = (rounds) =>
    Effect.map(storeAtOnce(rounds), (results) => {
      clock.saw(results[0]?.[0]?.["now"]);
      return results;
    });

  const set = batched<SetGame, GameSet, Failure>(
    (writes, contexts) => withSpanLinks(contexts, setAll(writes, store)),
    // Each batch has writes of only one scope, so that no write waits for the deletion of another scope.
    { maxSize: maxBatchSize, groupOf: ({ pid }) => pid },
  );
  return (write) =>
    Effect.withFiber(({ context }) => {
      const isInTransaction = Context.getOrUndefined(context, sql.transactionService) !== undefined;
      return isInTransaction ? setOne(write, storeInCurrentTransaction) : set(write);
    }).pipe(storeOperation("LinkStore.setGame"));
};

/** Stores rounds of changes, and returns the rows that each round wrote. */
type Store = (rounds: ReadonlyArray<Round>) => Effect.Effect<ReadonlyArray<Rows>, SqlError.SqlError>;

const setAll = (writes: ReadonlyArray<SetGame>, store: Store) => {
  const rounds = roundsOf(writes);
  return Effect.map(store(rounds), (results) => {
    const outcomes = new Map(rounds.flatMap((round, i) => outcomesOf(round, results[i] ?? [])));
    return writes.map((write) => outcomes.get(write) as Outcome);
  });
};

const setOne = (write: SetGame, store: Store) =>
  Effect.flatMap(setAll([write], store), ([outcome]) => outcome as Outcome);

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

/** Returns the outcome of each write from the rows that the round stored. A damaged row fails only its own write. */
const outcomesOf = (round: Round, rows: Rows): ReadonlyArray<readonly [SetGame, Outcome]> => {
  const sets = new Map(rows.map((row) => [row["chat_id"], setIn(row)]));
  return [...round].map(([chatId, write]) => {
    if (rows.length === 0) return [write, Exit.die(new Error(`Cannot set links: no scope "${write.pid}"`))];
    const set = sets.get(chatId);
    return [write, set === undefined ? Exit.fail(new UnreadableRow({ table: "links" })) : Exit.succeed(set)];
  });
};

/** The values of a write, at the positions where the statements read them. */
const lineOf = ({ chatId, gameId, at, actor, requestId }: SetGame, index: number): ChatLine => [
  chatId,
  gameId,
  at,
  index + 1,
  newEventId(at),
  sourceOf(actor),
  actor.type,
  actor.id,
  requestId,
  actor.type === "account" ? actor.member : null,
];

/**
 * Makes the SQL `texts` of the statements that store links, audit entries and events. `valuesOf` returns the parameters
 * of these statements. The first statement returns the stored links.
 */
const setStatements = (sql: SqlClient.SqlClient) => {
  const { elements, forReference, commitsInOrder, isRemote, jsonObject, now } = dialectOf(sql);
  const set = sql`${recordColumns}, previous_game_id`;
  const at = sql.literal("CAST(value ->> 2 AS BIGINT)");

  const line = sql`line AS (SELECT value FROM ${elements("")})`;
  // The database evaluates this subquery only once per statement. So the statement sets all of its links, or none.
  const untilDeadline = isRemote ? sql`AND (SELECT ${now}) <= CAST(${0} AS BIGINT)` : sql.literal("");
  // Lock the scope before the records, like deleteScope, and sort the records, to avoid deadlocks.
  const links = sql`
    INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    SELECT pid, value ->> 0, value ->> 1, 1, ${at}, ${at}
    FROM scopes, line WHERE pid = ${""} ${untilDeadline} ${forReference}
    ON CONFLICT (pid, chat_id) ${relinkOf(sql)}
    RETURNING pid, ${set}`;
  const changedIn = (written: string) => sql`
    SELECT written.pid, account, chat_id, game_id, previous_game_id, link_version, value
    FROM line CROSS JOIN scopes CROSS JOIN ${sql.literal(written)} AS written
    WHERE scopes.pid = ${""} AND written.pid = scopes.pid AND chat_id = value ->> 0
      AND previous_game_id IS DISTINCT FROM game_id`;
  const position = commitsInOrder
    ? sql`${lastPosition(sql, sql.literal("changed.pid"))} + CAST(value ->> 3 AS BIGINT)`
    : sql`CAST(NULL AS BIGINT)`;
  const ids = { chatId: "chat_id", gameId: "game_id", previousGameId: "previous_game_id" };
  const data = jsonObject({
    ...ids,
    linkVersion: "link_version",
    lastVerifiedAt: "CAST(value ->> 2 AS BIGINT)",
    source: "value ->> 5",
  } satisfies Record<keyof EventData["link.set"], string>);
  const events = sql`
    INSERT INTO events (pid, position, id, type, at, data)
    SELECT pid, ${position}, value ->> 4, 'link.set', ${at}, ${data} FROM changed`;
  const entries = sql`
    INSERT INTO audit_log (at, account, pid, actor_type, actor_id, request_id, action, details, chat_id, member)
    SELECT ${at}, account, pid, value ->> 6, value ->> 7, value ->> 8, 'link.set', ${jsonObject(ids)}, chat_id,
      value ->> 9
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

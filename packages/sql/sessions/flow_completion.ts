import { sightingsOf } from "@accountlink/core/addresses";
import { linkSet, newEvent, sessionEnded } from "@accountlink/core/events";
import {
  type CompletionRefusal,
  completedSession,
  completionRefusal,
  keptGame,
} from "@accountlink/core/flow";
import type { FlowId, SessionId } from "@accountlink/core/ids";
import type { CompleteFlow } from "@accountlink/core/sessions";
import { Data, Effect } from "effect";
import type { SqlClient, SqlConnection } from "effect/sql";
import { storeSightings } from "../alts/sighting_row.ts";
import { insertLinkEntry } from "../audit/audit_entry.ts";
import { insertEvents } from "../events/event_writes.ts";
import { flowColumns, readFlows } from "../flow/flow_row.ts";
import { readSessions, sessionColumns, storeSession } from "../flow/session_row.ts";
import { readRecords, readSets } from "../links/link_row.ts";
import { linkStatements, relinkOf } from "../links/link_statements.ts";
import { dialectOf } from "../statements/dialect.ts";

/** Fails the transaction, so that it rolls back, and carries the answer to return instead. */
class Refused extends Data.TaggedError("Refused")<{ readonly answer: CompletionRefusal }> {}

/**
 * Implements `SessionStore.complete`: in one transaction, stores the link, its sightings and its audit entry, deletes
 * the flow, and completes the session.
 */
export const completeFlowOn = (sql: SqlClient.SqlClient) => {
  const complete = completeOn(sql);
  return (write: CompleteFlow) =>
    complete(write).pipe(Effect.catchTag("Refused", ({ answer }) => Effect.succeed(answer)));
};

/** Takes locks in the order given in `verification_ends.ts`. */
const completeOn = (sql: SqlClient.SqlClient) => {
  const { link, lock, lockScope } = linkStatements(sql);
  const lockFlow = lockFlowOn(sql);
  const relink = relinkOf(sql);
  const recordLink = recordLinkOn(sql);
  const keep = sql.literal("DO NOTHING");

  return Effect.fnUntraced(function* (write: CompleteFlow) {
    const { pid, chatId, gameId, at, keeps } = write;
    yield* lockScope(pid);
    const [old] = yield* Effect.flatMap(lock(pid, chatId, chatId), readRecords);
    // Insert the link before locking the flow. The insert may wait for another write to the same record, and the flow
    // should not stay locked during this wait.
    const added = old === undefined && !keeps ? yield* link(pid, chatId, gameId, at, keep) : [];
    const { flow, session: opened } = yield* lockFlow(write.flow);
    const refusal = completionRefusal(write, { flow, session: opened, record: old });
    if (refusal !== null) return yield* new Refused({ answer: refusal });
    const kept = keptGame(write, old);
    const stored = old === undefined ? Effect.succeed(added) : link(pid, chatId, gameId, at, relink);
    const linked =
      kept === null ? yield* recordLink(write, yield* stored) : { gameId: kept, previousGameId: kept };
    yield* sql`DELETE FROM verification_flows WHERE id = ${write.flow}`;
    if (opened !== undefined) {
      const session = completedSession(opened, write, linked);
      yield* storeSession(sql, session, at);
      const events = sessionEnded(session).map((end) => newEvent(at, end));
      yield* insertEvents(sql, pid, events);
    }
    return { _tag: "Completed", ...linked } as const;
  }, sql.withTransaction);
};

/** Stores the audit entry, the event and the sightings of a link. `rows` is the result of the link statement. */
const recordLinkOn = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (write: CompleteFlow, rows: ReadonlyArray<SqlConnection.Row>) {
    const { pid, chatId, gameId } = write;
    const [set] = yield* readSets(rows);
    if (set === undefined) return yield* new Refused({ answer: { _tag: "LinkChanged" } });
    const { previousGameId } = set;
    if (previousGameId !== gameId) {
      const event = linkSet(set.record, previousGameId, "flow");
      yield* insertLinkEntry(sql, write, "link.set", { chatId, gameId, previousGameId }, event);
    }
    const seen = sightingsOf(write);
    if (seen.length > 0) yield* storeSightings(sql, pid, seen);
    return { gameId, previousGameId };
  });

const lockFlowOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);

  const lockSession = (id: SessionId) =>
    sql`SELECT ${sessionColumns} FROM verification_sessions WHERE sid = ${id} ${forUpdate}`;

  return Effect.fnUntraced(function* (id: FlowId) {
    const [flow] = yield* Effect.flatMap(
      sql`SELECT ${flowColumns} FROM verification_flows WHERE id = ${id} ${forUpdate}`,
      readFlows,
    );
    const [session] = flow?.session ? yield* Effect.flatMap(lockSession(flow.session), readSessions) : [];
    return { flow, session };
  });
};

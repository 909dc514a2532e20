import type { Link } from "@accountlink/core";
import { completedSession, completionRefusal } from "@accountlink/core/flow";
import type { SessionId } from "@accountlink/core/ids";
import type { CompleteFlow } from "@accountlink/core/sessions";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { storeSightings } from "../alts/store_sightings.ts";
import { insertLinkEntry } from "../audit/audit_entry.ts";
import { relinkOf } from "../links/link_relink.ts";
import { readRecords, readReplaced } from "../links/link_row.ts";
import { linkStatements } from "../links/link_statements.ts";
import { readSessions, sessionColumns } from "../sessions/session_row.ts";
import { storeSession } from "../sessions/store_session.ts";
import { dialectOf } from "../statements/dialect.ts";
import { flowColumns, readFlows } from "./flow_row.ts";

/** `SessionStore.complete`: link, sighting, audit entry, flow and session in one transaction. */
export const completeFlowOn = (sql: SqlClient.SqlClient) => {
  const lockState = lockStateOn(sql);
  const { link } = linkStatements(sql);
  const relink = relinkOf(sql);
  const keep = sql.literal("DO NOTHING");

  return Effect.fnUntraced(function* (write: CompleteFlow) {
    const { pid, chatId, gameId, at, address } = write;
    const state = yield* lockState(write);
    const refusal = completionRefusal(write, state);
    if (refusal !== null) return refusal;

    const rows = yield* link(pid, chatId, gameId, at, state.record === undefined ? keep : relink);
    const [record] = yield* readRecords(rows);
    if (record === undefined) return { _tag: "LinkChanged" } as const;
    const [previousGameId = null] = yield* readReplaced(rows);
    if (previousGameId !== gameId) {
      yield* insertLinkEntry(sql, write, "link.set", { chatId, gameId, previousGameId });
    }
    if (address !== null) yield* storeSightings(sql, pid, [{ chatId, address, seenAt: at }]);
    yield* sql`DELETE FROM verification_flows WHERE id = ${write.flow}`;
    const session =
      state.session === undefined ? null : completedSession(state.session, write, previousGameId);
    if (session !== null) yield* storeSession(sql, session, at);
    return { _tag: "Completed", record: record as Link, previousGameId, session } as const;
  }, sql.withTransaction);
};

/** Locks what a completion depends on, in the order of `verification_ends.ts`. */
const lockStateOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate, forReference } = dialectOf(sql);
  const { lock, lockScope } = linkStatements(sql);
  const [flowFields, sessionFields] = [sql.literal(flowColumns), sql.literal(sessionColumns)];

  const lockSession = (id: SessionId) =>
    sql`SELECT ${sessionFields} FROM verification_sessions WHERE sid = ${id} ${forUpdate}`;

  return Effect.fnUntraced(function* ({ pid, chatId, flow: id }: CompleteFlow) {
    yield* lockScope(pid, forReference);
    const [record] = yield* Effect.flatMap(lock(pid, chatId, chatId), readRecords);
    const [flow] = yield* Effect.flatMap(
      sql`SELECT ${flowFields} FROM verification_flows WHERE id = ${id} ${forUpdate}`,
      readFlows,
    );
    const [session] = flow?.session ? yield* Effect.flatMap(lockSession(flow.session), readSessions) : [];
    return { flow, session, record };
  });
};

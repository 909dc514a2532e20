import type { ChatId } from "@accountlink/core";
import { sightingsOf } from "@accountlink/core/addresses";
import { storeSightings } from "@accountlink/core/alts";
import { completedSession, completionRefusal, keptGame, verificationFlows } from "@accountlink/core/flow";
import { linkRemoved, linkSet, sessionEnded } from "@accountlink/core/journal";
import type { CompleteFlow } from "@accountlink/core/sessions";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { readSessions, sessionColumns, storeSession } from "../flow/session_row.ts";
import { endVerifications } from "../flow/verification_ends.ts";
import { insertRecord, insertRecords } from "../journal/records.ts";
import { admissionOn } from "../links/admitted_links.ts";
import { readRecords, readSets, readUnlinked } from "../links/link_lookups.ts";
import { linkStatements, relinkOf } from "../links/link_statements.ts";
import { withTx } from "../records.ts";
import { dialectOf } from "../statements/dialect.ts";
import { rollBack } from "../statements/store_operation.ts";

/**
 * Implements `SessionStore.complete`: in one transaction, stores the link, its sightings and its audit entry, deletes
 * the flow, and completes the session. Takes locks in the order given in `verification_ends.ts`.
 */
export const completeFlow = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, write: CompleteFlow) {
  const { pid, chatId, gameId, proof, at, keeps } = write;
  const { forUpdate } = dialectOf(sql);
  const { link, unlink, lock } = linkStatements(sql);
  const { lock: lockScope, admission } = admissionOn(sql);

  /** Removes the link of a chat user whose game account the user of the flow has proven. */
  const unlinkOther = Effect.fnUntraced(function* (other: ChatId) {
    const [unlinked] = yield* readUnlinked(unlink(pid, other, at));
    if (unlinked === undefined) return;
    yield* endVerifications(sql, pid, other, at);
    yield* insertRecord(sql, pid, linkRemoved(write, other, unlinked.removedGameId, unlinked.linkVersion));
  });

  const marks = yield* lockScope(pid);
  const [old] = yield* readRecords(lock(pid, chatId, chatId));
  // Insert the link before locking the flow. The insert may wait for another write to the same record, and the flow
  // should not stay locked during this wait.
  const isAdded = old === undefined && !keeps;
  const added = isAdded ? yield* readSets(link({ ...write, existing: sql.literal("DO NOTHING") })) : [];
  const { isBlocked, takenBy } = yield* admission(marks, write);
  const flow = yield* withTx(sql, (tx) => tx.get(verificationFlows, write.flow), true);
  const [opened] = flow?.session
    ? yield* readSessions(
        sql`SELECT ${sessionColumns} FROM verification_sessions WHERE sid = ${flow.session} ${forUpdate}`,
      )
    : [];
  const refusal = completionRefusal(write, { flow, session: opened, record: old, isBlocked, takenBy });
  if (refusal !== null) return yield* rollBack(refusal);
  const kept = keptGame(write, old);
  let linked = { gameId: kept ?? gameId, previousGameId: kept };
  if (kept === null) {
    const [set] = old === undefined ? added : yield* readSets(link({ ...write, existing: relinkOf(sql) }));
    if (set === undefined) return yield* rollBack({ _tag: "LinkChanged" });
    const { previousGameId } = set;
    for (const other of takenBy) yield* unlinkOther(other);
    linked = { gameId, previousGameId };
    if (previousGameId !== gameId) yield* insertRecord(sql, pid, linkSet(write, set, proof));
    // The scope is locked.
    yield* withTx(sql, (tx) => storeSightings(tx, pid, sightingsOf(write)));
  }
  yield* sql`DELETE FROM verification_flows WHERE id = ${write.flow}`;
  if (opened !== undefined) {
    const session = completedSession(opened, write, linked);
    yield* storeSession(sql, session, at);
    yield* insertRecords(sql, pid, sessionEnded(session, at));
  }
  return { _tag: "Completed", ...linked } as const;
});

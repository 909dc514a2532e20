/**
 * Lock order of all writes, to avoid deadlocks: scope, record of the chat user, flows, sessions, then rows that only
 * the holder of these locks writes.
 *
 * - A deletion of a scope locks the scope FOR UPDATE. Completions, moves and imports first lock it FOR KEY SHARE, or
 *   FOR NO KEY UPDATE if it allows one chat user for each game user, so they never overlap with a deletion. An unlink locks the record of its chat user, as the deletion does. So
 *   transactions of the same chat user are serialized before they lock flows.
 * - Sessions are locked in the order of their sids, since two chat users can share sessions.
 * - A completion for a chat user without a record inserts one before it locks the flow, and rolls back if it is
 *   refused or another transaction was first.
 * - A proof of a chat account locks the record before its flow, so an unlink either sees the proof or comes first. A
 *   proof of a game account and the end of a flow lock only the flow.
 * - Creating locks the bucket of the key, then inserts one session; advancing locks one. Both lock the scope only FOR KEY
 *   SHARE.
 * - A sweep locks sessions, or flows with their challenges.
 * - An erasure locks the user's accounts, the scopes of these accounts, then the user's records by pid. Before that,
 *   it blocks writes that name the user and that it could not see before their commit: requests under an idempotency
 *   key, and proofs.
 */
import { sightingsOf } from "@accountlink/core/addresses";
import { noteNewLink, storeSightings } from "@accountlink/core/alts";
import { completedSession, completionRefusal, keptGame } from "@accountlink/core/flow";
import { linkSet } from "@accountlink/core/journal";
import type { CompleteFlow, LinkLost } from "@accountlink/core/sessions";
import { changeSession, findFlow } from "@accountlink/core/storage";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { insertRecord } from "../journal/records.ts";
import { admissionOn } from "../links/admitted_links.ts";
import { readRecords, readSets } from "../links/link_lookups.ts";
import { linkRemovalOn } from "../links/link_removal.ts";
import { linkStatements, relinkOf } from "../links/link_statements.ts";
import { withTx } from "../records.ts";
import { rollBack } from "../statements/store_operation.ts";

/**
 * Implements `SessionStore.complete`: in one transaction, stores the link, its sightings and its audit entry, deletes
 * the flow, and completes the session. Takes locks in the order above.
 */
export const completeFlow = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, write: CompleteFlow) {
  const { pid, chatId, gameId, proof, at, keeps } = write;
  const { link, lock } = linkStatements(sql);
  const removeLink = linkRemovalOn(sql);
  const { lock: lockScope, admission } = admissionOn(sql);

  const marks = yield* lockScope(pid);
  const [old] = yield* readRecords(lock(pid, chatId, chatId));
  const { isBlocked, takenBy } = yield* admission(marks, write);
  // Insert the link before locking the flow. The insert may wait for another write to the same record, and the flow
  // should not stay locked during this wait.
  const isAdded = old === undefined && !keeps;
  const added = isAdded ? yield* readSets(link({ ...write, existing: sql.literal("DO NOTHING") })) : [];
  const { flow, session } = yield* withTx(sql, (tx) => findFlow(tx, write.flow), true);
  const refusal = completionRefusal(write, { flow, session, record: old, isBlocked, takenBy });
  if (refusal !== null) return yield* rollBack(refusal);
  const kept = keptGame(write, old);
  let linked = { gameId: kept ?? gameId, previousGameId: kept };
  const losers: Array<LinkLost> = [];
  if (kept === null) {
    const [set] = old === undefined ? added : yield* readSets(link({ ...write, existing: relinkOf(sql) }));
    if (set === undefined) return yield* rollBack({ _tag: "LinkChanged" });
    const { previousGameId } = set;
    for (const other of takenBy) {
      const removed = yield* removeLink({ ...write, chatId: other, source: "flow", spares: session?.id });
      if (removed !== null) losers.push({ chatId: other, ended: removed.ended });
    }
    linked = { gameId, previousGameId };
    // The scope is locked.
    if (previousGameId !== gameId) {
      yield* insertRecord(sql, pid, linkSet(write, set, proof));
      yield* withTx(sql, (tx) => noteNewLink(tx, write));
    }
    yield* withTx(sql, (tx) => storeSightings(tx, pid, sightingsOf(write)));
  }
  yield* sql`DELETE FROM verification_flows WHERE id = ${write.flow}`;
  if (session !== undefined) {
    yield* withTx(sql, (tx) => changeSession(tx, completedSession(session, write, linked), at), true);
  }
  return { _tag: "Completed", ...linked, losers } as const;
});

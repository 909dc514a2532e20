/** The writes of `SessionStore`: each is one transaction, but a sweep runs one transaction per batch. */
import type { KeyId } from "@accountlink/core";
import { newEvent, sessionEnded } from "@accountlink/core/events";
import type { SessionId } from "@accountlink/core/ids";
import {
  type AdvanceSession,
  advancedSession,
  type CreateSession,
  type CreationBurst,
  canAdvance,
  type SessionAdvanced,
  type SessionStore,
  type SweepSessions,
} from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Data, Effect, Option, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { storeSightings } from "../alts/sighting_row.ts";
import { insertEvents } from "../events/event_writes.ts";
import { readFlowIds } from "../flow/flow_row.ts";
import { readSessions, rowOfSession, sessionColumns, storeSession } from "../flow/session_row.ts";
import { readSessionIds, unfinished } from "../flow/verification_ends.ts";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, deleteInBatches, inBatches } from "../statements/in_batches.ts";
import { columnReader } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { completeFlowOn } from "./flow_completion.ts";

export const sessionWrites = (
  sql: SqlClient.SqlClient,
): Pick<SessionStore["Service"], "create" | "advance" | "complete" | "recordSightings" | "sweep"> => {
  const { withBulkTimeout } = dialectOf(sql);
  const [create, advance, complete, sweep] = [
    createOn(sql),
    advanceOn(sql),
    completeFlowOn(sql),
    sweepOn(sql),
  ];
  return {
    create: (write) => {
      const { clientId, redirect } = write.session;
      const { hash = "", sealedSid = "" } = write.code ?? {};
      return create(write).pipe(
        Effect.catchTag("CodeTaken", () => Effect.succeed({ _tag: "CodeTaken" } as const)),
        storeOperation("SessionStore.create", clientId, redirect ?? "", hash, sealedSid),
      );
    },
    advance: (write) => advance(write).pipe(storeOperation("SessionStore.advance")),
    complete: (write) => complete(write).pipe(storeOperation("SessionStore.complete")),
    recordSightings: (pid, sightings) =>
      withBulkTimeout(sql.withTransaction(storeSightings(sql, pid, sightings))).pipe(
        Effect.asVoid,
        storeOperation("SessionStore.recordSightings"),
      ),
    sweep: (times) => sweep(times).pipe(storeOperation("SessionStore.sweep")),
  };
};

/**
 * Fails the transaction because another session uses the code. The rollback also undoes the count in the key's burst.
 */
class CodeTaken extends Data.TaggedError("CodeTaken") {}

const createOn = (sql: SqlClient.SqlClient) => {
  const takeFromBurst = takeFromBurstOn(sql);
  return Effect.fnUntraced(function* ({ session, burst, code }: CreateSession) {
    const { keyId, createdAt } = session;
    const readyAt = burst === null ? null : yield* takeFromBurst(keyId, burst, createdAt);
    if (readyAt !== null) return { _tag: "TooMany", readyAt } as const;
    const row = {
      ...rowOfSession(session),
      code_hash: code?.hash ?? null,
      sealed_sid: code?.sealedSid ?? null,
    };
    const inserted = yield* sql`
      INSERT INTO verification_sessions ${sql.insert(row)}
      ON CONFLICT (code_hash) WHERE ${unfinished} DO NOTHING
      RETURNING sid`;
    return inserted.length > 0 ? ({ _tag: "Created" } as const) : yield* new CodeTaken();
  }, sql.withTransaction);
};

/**
 * Takes one session creation from the token bucket of an API key, and locks the bucket's row. Returns null on success.
 * If the bucket is empty, returns the time at which the key can create its next session.
 */
const takeFromBurstOn = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (keyId: KeyId, { capacity, refillMs }: CreationBurst, at: Millis) {
    const ahead = (capacity - 1) * refillMs;
    const taken = yield* sql`
      INSERT INTO session_bursts (key_id, full_at) VALUES (${keyId}, ${at + refillMs})
      ON CONFLICT (key_id) DO UPDATE SET
        full_at = CASE
          WHEN session_bursts.full_at > ${at} THEN session_bursts.full_at + ${refillMs}
          ELSE excluded.full_at
        END
      WHERE session_bursts.full_at <= ${at + ahead}
      RETURNING full_at`;
    if (taken.length > 0) return null;
    const [fullAt = at] = yield* Effect.flatMap(
      sql`SELECT full_at FROM session_bursts WHERE key_id = ${keyId}`,
      readFullAts,
    );
    return fullAt - ahead;
  });

const readFullAts = columnReader("session_bursts", "full_at", Schema.Int);

const advanceOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* ({ id, to, at }: AdvanceSession) {
    const [session] = yield* Effect.flatMap(
      sql`SELECT ${sessionColumns} FROM verification_sessions WHERE sid = ${id} ${forUpdate}`,
      readSessions,
    );
    if (session === undefined) return Option.none<SessionAdvanced>();
    if (!canAdvance(session, to, at)) return Option.some({ session, changed: false });

    const advanced = advancedSession(session, to);
    yield* storeSession(sql, advanced, at);
    const events = sessionEnded(advanced).map((end) => newEvent(at, end));
    yield* insertEvents(sql, session.pid, events);
    return Option.some({ session: advanced, changed: true });
  }, sql.withTransaction);
};

// The ORDER BY makes Postgres read the index in order and stop at the LIMIT, even in a generic plan, which is made
// without knowing the parameters.
const sweepOn = (sql: SqlClient.SqlClient) => {
  const { forUpdateUnlocked, isAmong } = dialectOf(sql);
  const take = sql`ORDER BY expires_at LIMIT ${batchSize} ${forUpdateUnlocked}`;

  const expire = Effect.fnUntraced(function* (at: Millis) {
    const due = sql`
      SELECT sid FROM verification_sessions WHERE ${unfinished} AND expires_at <= ${at} ${take}`;
    const sids = yield* Effect.flatMap(due, readSessionIds);
    yield* sql`
      UPDATE verification_sessions SET state = 'expired', change = change + 1, changed_at = ${at}
      WHERE sid ${isAmong(JSON.stringify(sids))}`;
    return sids;
  }, sql.withTransaction);

  const forget = Effect.fnUntraced(function* (before: Millis) {
    const old = sql`
      SELECT sid FROM verification_sessions WHERE NOT (${unfinished}) AND expires_at < ${before} ${take}`;
    const sids = yield* Effect.flatMap(old, readSessionIds);
    yield* sql`DELETE FROM verification_sessions WHERE sid ${isAmong(JSON.stringify(sids))}`;
    return sids.length;
  }, sql.withTransaction);

  const endFlows = Effect.fnUntraced(function* (at: Millis) {
    const over = sql`SELECT id FROM verification_flows WHERE expires_at <= ${at} ${take}`;
    const ids = yield* Effect.flatMap(over, readFlowIds);
    yield* sql`DELETE FROM verification_flows WHERE id ${isAmong(JSON.stringify(ids))}`;
    return ids.length;
  }, sql.withTransaction);

  return Effect.fnUntraced(function* ({ at, sessionsBefore, sightingsBefore }: SweepSessions) {
    const expired: Array<SessionId> = [];
    yield* inBatches(
      Effect.map(expire(at), (sids) => {
        expired.push(...sids);
        return sids.length;
      }),
    );
    yield* inBatches(forget(sessionsBefore));
    yield* inBatches(endFlows(at));
    yield* deleteInBatches(sql, {
      table: "sightings",
      primaryKey: ["pid", "chat_id", "place_hash"],
      order: "seen_at",
      condition: sql`seen_at < ${sightingsBefore}`,
    });
    return expired;
  });
};

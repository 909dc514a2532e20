import type { KeyId } from "@accountlink/core";
import { storeSightings } from "@accountlink/core/alts";
import type { SessionId } from "@accountlink/core/ids";
import { sessionEnded } from "@accountlink/core/journal";
import {
  type AdvanceSession,
  advancedSession,
  type CreateSession,
  type CreationBurst,
  canAdvance,
  keptAdvance,
  keptCreation,
  type SessionCreated,
  SessionStore,
} from "@accountlink/core/sessions";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Option, Schema } from "effect";
import {
  readSessionIds,
  readSessions,
  rowOfSession,
  sessionColumns,
  storeSession,
  unfinished,
} from "../flow/session_row.ts";
import { insertRecords } from "../journal/records.ts";
import { withTx } from "../records.ts";
import { batchSize, deleteInBatches, inBatches } from "../statements/in_batches.ts";
import { keyedWriteOn } from "../statements/keyed_write.ts";
import { columnReader } from "../statements/row.ts";
import { type Ending, rollBack, storeLayer } from "../statements/store_operation.ts";
import { completeFlow } from "./flow_completion.ts";

export const layer = storeLayer(SessionStore)((parts) => {
  const { sql, connection, operation, transaction, bulkTransaction, forUpdate, forUpdateUnlocked, isAmong } =
    parts;
  const keyedWrite = keyedWriteOn(parts);
  // Every subscriber of a session reads the session after each change. Compile the statement only once, because this
  // read is on the hot path.
  const [byId] = sql`SELECT ${sessionColumns} FROM verification_sessions WHERE sid = ${""}`.compile();

  /**
   * Takes one session creation from the token bucket of an API key, and locks the bucket's row. Returns null on
   * success. If the bucket is empty, returns the time at which the key can create its next session.
   */
  const takeFromBurst = Effect.fnUntraced(function* (
    keyId: KeyId,
    { capacity, refillMs }: CreationBurst,
    at: Millis,
  ) {
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
    const [fullAt = at] = yield* readFullAts(sql`SELECT full_at FROM session_bursts WHERE key_id = ${keyId}`);
    return fullAt - ahead;
  });

  // The ORDER BY makes Postgres read the index in order and stop at the LIMIT, even in a generic plan, which is made
  // without knowing the parameters.
  const some = sql`ORDER BY expires_at LIMIT ${batchSize} ${forUpdateUnlocked}`;

  const expire = Effect.fnUntraced(function* (at: Millis) {
    const sids = yield* readSessionIds(
      sql`SELECT sid FROM verification_sessions WHERE ${unfinished} AND expires_at <= ${at} ${some}`,
    );
    yield* sql`
      UPDATE verification_sessions SET state = 'expired', change = change + 1, changed_at = ${at}
      WHERE sid ${isAmong(JSON.stringify(sids))}`;
    return sids;
  }, sql.withTransaction);

  const forget = Effect.fnUntraced(function* (before: Millis) {
    const sids = yield* readSessionIds(
      sql`SELECT sid FROM verification_sessions WHERE NOT (${unfinished}) AND expires_at < ${before} ${some}`,
    );
    yield* sql`DELETE FROM verification_sessions WHERE sid ${isAmong(JSON.stringify(sids))}`;
    return sids.length;
  }, sql.withTransaction);

  const endFlows = Effect.fnUntraced(function* (at: Millis) {
    const ids = yield* readFlowIds(sql`SELECT id FROM verification_flows WHERE expires_at <= ${at} ${some}`);
    yield* sql`DELETE FROM verification_flows WHERE id ${isAmong(JSON.stringify(ids))}`;
    return ids.length;
  }, sql.withTransaction);

  return {
    find: operation("find", (id) =>
      Effect.map(readSessions(connection.execute(byId, [id], undefined)), Arr.head),
    ),

    knowsCode: operation("knowsCode", function* (codeHash) {
      assertStorable([codeHash]);
      const found = yield* sql`SELECT 1 FROM verification_sessions WHERE code_hash = ${codeHash} LIMIT 1`;
      return found.length > 0;
    }),

    findSealedSid: operation("findSealedSid", (codeHash, at) => {
      assertStorable([codeHash]);
      const found = sql`
        SELECT sealed_sid FROM verification_sessions
        WHERE code_hash = ${codeHash} AND ${unfinished} AND expires_at > ${at}`;
      return Effect.map(readSealedSids(found), Arr.head);
    }),

    changedSince: operation("changedSince", (at, among) => {
      const isMeant = among === null ? sql`1 = 1` : sql`sid ${isAmong(JSON.stringify(among))}`;
      return readSessionIds(
        sql`SELECT sid FROM verification_sessions WHERE changed_at >= ${at} AND ${isMeant}`,
      );
    }),

    create: keyedWrite("create", keptCreation, function* (write: CreateSession): Effect.fn.Return<
      SessionCreated,
      Ending
    > {
      const { session, burst, code } = write;
      const { clientId, redirect, keyId, createdAt } = session;
      const { hash = null, sealedSid = null } = code ?? {};
      assertStorable([clientId, redirect ?? "", hash ?? "", sealedSid ?? ""]);
      const readyAt = burst === null ? null : yield* takeFromBurst(keyId, burst, createdAt);
      if (readyAt !== null) return { _tag: "TooMany", readyAt };
      const row = { ...rowOfSession(session), code_hash: hash, sealed_sid: sealedSid };
      const inserted = yield* sql`
        INSERT INTO verification_sessions ${sql.insert(row)}
        ON CONFLICT (code_hash) WHERE ${unfinished} DO NOTHING
        RETURNING sid`;
      // The rollback also undoes the count in the key's burst.
      return inserted.length > 0 ? { _tag: "Created" } : yield* rollBack({ _tag: "CodeTaken" });
    }),

    advance: keyedWrite("advance", keptAdvance, function* ({ id, to, at }: AdvanceSession) {
      const [session] = yield* readSessions(
        sql`SELECT ${sessionColumns} FROM verification_sessions WHERE sid = ${id} ${forUpdate}`,
      );
      if (session === undefined) return Option.none();
      if (!canAdvance(session, to, at)) return Option.some({ session, changed: false });
      const advanced = advancedSession(session, to);
      yield* storeSession(sql, advanced, at);
      yield* insertRecords(sql, session.pid, sessionEnded(advanced, at));
      return Option.some({ session: advanced, changed: true });
    }),

    complete: transaction("complete", (write) => completeFlow(sql, write)),

    recordSightings: bulkTransaction("recordSightings", (pid, sightings) =>
      withTx(sql, (tx) => storeSightings(tx, pid, sightings), true),
    ),

    sweep: operation("sweep", function* ({ at, sessionsBefore, sightingsBefore }) {
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
    }),
  };
});

const readFullAts = columnReader("session_bursts", "full_at", Schema.Int);

const readSealedSids = columnReader("verification_sessions", "sealed_sid", Schema.String);

const readFlowIds = columnReader("verification_flows", "id", Schema.String);

import type { SessionId } from "@accountlink/core/ids";
import { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { readSealedSids, readSessions, sessionColumns } from "../flow/session_row.ts";
import { readSessionIds, unfinished } from "../flow/verification_ends.ts";
import { dialectOf } from "../statements/dialect.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { sessionWrites } from "./session_writes.ts";

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* SqlConnection.Connection;
  const { isAmong } = dialectOf(sql);
  // Every subscriber of a session reads the session after each change. Compile the statement only once, because this
  // read is on the hot path.
  const [byId] = sql`SELECT ${sessionColumns} FROM verification_sessions WHERE sid = ${""}`.compile();

  return SessionStore.of({
    find: (id: SessionId) =>
      connection.execute(byId, [id], undefined).pipe(
        Effect.flatMap(readSessions),
        Effect.map(([session]) => Option.fromUndefinedOr(session)),
        storeOperation("SessionStore.find"),
      ),

    knowsCode: (codeHash: string) =>
      sql`SELECT 1 FROM verification_sessions WHERE code_hash = ${codeHash} LIMIT 1`.pipe(
        Effect.map((rows) => rows.length > 0),
        storeOperation("SessionStore.knowsCode", codeHash),
      ),

    findSealedSid: (codeHash: string, at: Millis) =>
      sql`
        SELECT sealed_sid FROM verification_sessions
        WHERE code_hash = ${codeHash} AND ${unfinished} AND expires_at > ${at}`.pipe(
        Effect.flatMap(readSealedSids),
        Effect.map(([sealedSid]) => Option.fromUndefinedOr(sealedSid)),
        storeOperation("SessionStore.findSealedSid", codeHash),
      ),

    changedSince: (at: Millis, among: ReadonlyArray<SessionId> | null) => {
      const isMeant = among === null ? sql`` : sql`AND sid ${isAmong(JSON.stringify(among))}`;
      return sql`SELECT sid FROM verification_sessions WHERE changed_at >= ${at} ${isMeant}`.pipe(
        Effect.flatMap(readSessionIds),
        storeOperation("SessionStore.changedSince"),
      );
    },

    ...sessionWrites(sql),
  });
});

export const layer: Layer.Layer<SessionStore, never, SqlClient.SqlClient | SqlConnection.Connection> =
  Layer.effect(SessionStore, make);

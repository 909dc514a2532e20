/** Verification sessions in SQL. */
import { type Millis, type SessionId, SessionStore } from "@accountlink/core";
import { Effect, Layer, Option } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { operation } from "./internal/operation.ts";
import { readSessionIds, readSessions, sessionColumns } from "./internal/session_row.ts";
import { sessionWrites } from "./internal/session_writes.ts";

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* SqlConnection.Connection;
  const { isAmong } = dialectOf(sql);
  // Everybody who waits for a session reads it when it changes, many of them at once.
  const [byId] =
    sql`SELECT ${sql.literal(sessionColumns)} FROM verification_sessions WHERE sid = ${""}`.compile();

  return SessionStore.of({
    find: (id: SessionId) =>
      connection.execute(byId, [id], undefined).pipe(
        Effect.flatMap(readSessions),
        Effect.map(([session]) => Option.fromUndefinedOr(session)),
        operation("SessionStore.find"),
      ),

    changedSince: (at: Millis, among: ReadonlyArray<SessionId> | null) => {
      const isMeant = among === null ? sql`` : sql`AND sid ${isAmong(JSON.stringify(among))}`;
      return sql`SELECT sid FROM verification_sessions WHERE changed_at >= ${at} ${isMeant}`.pipe(
        Effect.flatMap(readSessionIds),
        operation("SessionStore.changedSince"),
      );
    },

    ...sessionWrites(sql),
  });
});

/** Sessions on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<SessionStore, never, SqlClient.SqlClient | SqlConnection.Connection> =
  Layer.effect(SessionStore, make);

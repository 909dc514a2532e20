/** Verification sessions in SQL. */
import { type Millis, SessionStore, type Sid } from "@accountlink/core";
import { Effect, Layer, Option } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { operation } from "./internal/operation.ts";
import { readSessions, readSids, sessionColumns } from "./internal/session_row.ts";
import { sessionWrites } from "./internal/session_writes.ts";

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* SqlConnection.Connection;
  const { isAmong } = dialectOf(sql);
  // Everybody who waits for a session reads it when it changes, many of them at once.
  const [bySid] =
    sql`SELECT ${sql.literal(sessionColumns)} FROM verification_sessions WHERE sid = ${""}`.compile();

  return SessionStore.of({
    find: (sid: Sid) =>
      connection.execute(bySid, [sid], undefined).pipe(
        Effect.flatMap(readSessions),
        Effect.map(([session]) => Option.fromUndefinedOr(session)),
        operation("SessionStore.find"),
      ),

    changedSince: (at: Millis, among: ReadonlyArray<Sid> | null) => {
      const isMeant = among === null ? sql`` : sql`AND sid ${isAmong(JSON.stringify(among))}`;
      return sql`SELECT sid FROM verification_sessions WHERE changed_at >= ${at} ${isMeant}`.pipe(
        Effect.flatMap(readSids),
        operation("SessionStore.changedSince"),
      );
    },

    ...sessionWrites(sql),
  });
});

/** Sessions on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<SessionStore, never, SqlClient.SqlClient | SqlConnection.Connection> =
  Layer.effect(SessionStore, make);

/** Where a database is, and whether it rests because it is a copy. */
import type { PlaceRecords, Rest } from "@accountlink/core";
import { Clock, Effect, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { storagePlace } from "./migrations/0037_storage_place.ts";
import { schemaReaderOf } from "./statements/row.ts";
import { storeOperation } from "./statements/store_operation.ts";

export interface PlaceOf {
  /** SQL of the place, for a statement that writes the row. */
  readonly written: string;
  /** SQL of the condition that the data is still where the row was written. */
  readonly isHere: string;
}

const postgresNumbers = `(SELECT oid FROM pg_database WHERE datname = current_database())::text || '-' ||
  'storage_place'::regclass::oid::text || '-'`;

/**
 * A restored dump has other numbers of the database, of the table and of the transaction that wrote the row. A standby and
 * an upgraded server keep them.
 */
export const postgresPlace: PlaceOf = {
  written: `${postgresNumbers} || (pg_current_xact_id()::text::numeric % 4294967296)::text`,
  isHere: `place = ${postgresNumbers} || xmin::text`,
};

/**
 * A copied file has another inode, or another time of birth where the file system gives an inode again.
 *
 * @param birth 0 if it is unknown
 */
export const sqlitePlace = (inode: bigint, birth: bigint): PlaceOf => ({
  written: `'${inode}-${birth}'`,
  isHere: birth === 0n ? `place LIKE '${inode}-%'` : `place IN ('${inode}-${birth}', '${inode}-0')`,
});

const Columns = Schema.Struct({
  rest_since: Schema.NullOr(Schema.Number),
  rest_reason: Schema.NullOr(
    Schema.Union([
      Schema.Literals(["restored", "copied"]),
      Schema.TemplateLiteral(["moved to ", Schema.String]),
    ]),
  ),
  is_here: Schema.Number,
});

export type PlaceRow = typeof Columns.Type;

const readRows = schemaReaderOf("storage_place", Columns);

/** The columns of the rest, and whether the row is where it was written. */
export const restColumns = (isHere: string): string =>
  `rest_since, rest_reason, CASE WHEN ${isHere} THEN 1 ELSE 0 END AS is_here`;

const restIn = (columns: typeof Columns.Type | null): Rest | null =>
  columns === null || columns.rest_since === null
    ? null
    : { since: columns.rest_since, reason: columns.rest_reason ?? "copied" };

/** Returns the rest of data; a copy that no server has opened yet rests from now on. */
export const restFoundOn = <E>(row: Effect.Effect<typeof Columns.Type | null, E>) =>
  Effect.gen(function* () {
    const stored = yield* row;
    if (stored === null || stored.is_here === 1) return restIn(stored);
    return restIn(stored) ?? { since: yield* Clock.currentTimeMillis, reason: "copied" as const };
  });

export const readPlaceRows = (sql: SqlClient.SqlClient, { isHere }: PlaceOf) =>
  readRows(sql`SELECT ${sql.literal(restColumns(isHere))} FROM storage_place`).pipe(
    Effect.map(([first]) => first ?? null),
  );

/** Every write of the row stores the place, since a write changes the place of the row on Postgres. */
export const placeRecordsOn = (sql: SqlClient.SqlClient, place: PlaceOf): PlaceRecords => {
  const row = readPlaceRows(sql, place);
  const put = (rest: Rest | null) => sql`
    INSERT INTO storage_place (id, place, rest_since, rest_reason)
    VALUES (1, ${sql.literal(place.written)}, ${rest?.since ?? null}, ${rest?.reason ?? null})
    ON CONFLICT (id) DO UPDATE SET place = excluded.place, rest_since = excluded.rest_since,
      rest_reason = excluded.rest_reason`;
  return {
    claim: (at) =>
      Effect.gen(function* () {
        const stored = yield* row;
        if (stored?.is_here === 1) return restIn(stored);
        const rest = stored === null ? null : (restIn(stored) ?? { since: at, reason: "copied" as const });
        yield* put(rest);
        return rest;
      }).pipe(storeOperation("StorageUse.claim")),
    find: restFoundOn(row).pipe(storeOperation("StorageUse.find")),
    rest: (rest) => Effect.asVoid(put(rest)).pipe(storeOperation("StorageUse.rest")),
    resume: Effect.asVoid(put(null)).pipe(storeOperation("StorageUse.resume")),
  };
};

/** Makes a database rest until it is resumed, or act, whichever release made it and wherever it is. @internal */
export const restDatabase = (sql: SqlClient.SqlClient, rest: Rest | null) =>
  Effect.gen(function* () {
    yield* storagePlace;
    yield* sql`DELETE FROM storage_place`;
    if (rest === null) return;
    yield* sql`INSERT INTO storage_place (id, place, rest_since, rest_reason)
      VALUES (1, '', ${rest.since}, ${rest.reason})`;
  }).pipe(sql.withTransaction, Effect.provideService(SqlClient.SqlClient, sql));

import type { Pid } from "@accountlink/core";
import type { FoundSighting, SharedSightings } from "@accountlink/core/alts";
import { isChatId } from "@accountlink/core/ids";
import { Effect, Schema } from "effect";
import type { SqlClient, SqlConnection } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { readerOf, schemaReaderOf } from "../statements/row.ts";

/** Implements `SightingStore.findShared`: who else was seen at the same places. */
export const findSharedOn = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong, firstRowsOfEach, rowsOfEach } = dialectOf(sql);
  return (pid: Pid, { hashes, including, excluding, limit }: SharedSightings) => {
    const places = JSON.stringify(hashes.map((hash) => [hash]));
    const freshest = firstRowsOfEach({
      json: places,
      table: "sightings",
      key: "chat_id",
      condition: sql`pid = ${pid} AND place_hash = value ->> 0
        AND NOT (chat_id ${isAmong(JSON.stringify(excluding))})`,
      order: "seen_at DESC, chat_id",
      limit,
    });
    const users = sql`(
      SELECT chat_id AS user_id FROM freshest
      UNION SELECT value ->> 0 FROM ${elements(JSON.stringify(including.map((id) => [id])))}) AS users`;
    const seen = rowsOfEach({
      each: users,
      table: "sightings",
      condition: sql`pid = ${pid} AND chat_id = user_id`,
    });
    // The query reads all sightings of the found users, which are few, and filters them by place. A search by place
    // could make Postgres read all sightings at the place.
    return Effect.flatMap(
      sql`
        WITH freshest AS (
          SELECT chat_id FROM ${freshest}
          GROUP BY chat_id ORDER BY MAX(seen_at) DESC, chat_id LIMIT ${limit}
        )
        SELECT chat_id, place_hash, seen_at FROM ${seen}
        WHERE place_hash IN (SELECT value ->> 0 FROM ${elements(places)})`,
      readFound,
    );
  };
};

const readFound = readerOf("sightings", (row: SqlConnection.Row): FoundSighting | undefined => {
  const { chat_id, place_hash, seen_at } = row;
  if (!isChatId(chat_id) || typeof place_hash !== "string" || !Number.isSafeInteger(seen_at)) {
    return undefined;
  }
  return { chatId: chat_id, hash: place_hash, seenAt: seen_at as number };
});

export const countUsersOn = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong } = dialectOf(sql);

  /**
   * Counts the users of each place. A place has several hashes, and a user with sightings under more than one of them
   * counts only once.
   */
  const countDistinct = (pid: Pid, places: ReadonlyArray<readonly [number, ReadonlyArray<string>]>) => {
    const pairs = places.flatMap(([index, hashes]) => hashes.map((hash) => [`${index}`, hash]));
    return Effect.flatMap(
      sql`
        SELECT value ->> 0 AS name, COUNT(DISTINCT chat_id) AS users
        FROM ${elements(JSON.stringify(pairs))} CROSS JOIN sightings
        WHERE pid = ${pid} AND place_hash = value ->> 1
        GROUP BY value ->> 0`,
      readCounts,
    );
  };

  return Effect.fnUntraced(function* (pid: Pid, places: ReadonlyArray<ReadonlyArray<string>>) {
    const counts = new Map(
      yield* Effect.flatMap(
        sql`
          SELECT place_hash AS name, users FROM place_users
          WHERE pid = ${pid} AND place_hash ${isAmong(JSON.stringify(places.flat()))}`,
        readCounts,
      ),
    );
    const sum = (hashes: ReadonlyArray<string>) =>
      hashes.reduce((total, hash) => total + (counts.get(hash) ?? 0), 0);
    const isSplit = (hashes: ReadonlyArray<string>) => hashes.filter((hash) => counts.has(hash)).length > 1;
    const split = [...places.entries()].filter(([, hashes]) => isSplit(hashes));
    const exact = new Map(split.length === 0 ? [] : yield* countDistinct(pid, split));
    return places.map((hashes, index) => exact.get(`${index}`) ?? sum(hashes));
  });
};

const readCounts = schemaReaderOf(
  "place_users",
  Schema.Struct({ name: Schema.String, users: Schema.Int }),
  ({ name, users }) => [name, users] as const,
);

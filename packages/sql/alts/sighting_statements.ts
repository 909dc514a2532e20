/** Searches of places, which may have a hundred thousand users: SQLite and Postgres sort and count them without reading all. */
import type { Pid } from "@accountlink/core";
import type { FoundSighting, SightingStore } from "@accountlink/core/alts";
import { isChatId } from "@accountlink/core/ids";
import { Schema } from "effect";
import type { SqlConnection } from "effect/sql";
import { readerOf, schemaReaderOf } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";

type Own = Pick<SightingStore["Service"], "findShared" | "countUsers">;

export const sightingStatements = ({
  sql,
  operation,
  elements,
  firstRowsOfEach,
  isAmong,
  rowsOfEach,
}: StoreParts): Own => {
  /**
   * Counts the users of each place. A place has several hashes, and a user with sightings under more than one of them
   * counts only once.
   */
  const countDistinct = (pid: Pid, places: ReadonlyArray<readonly [number, ReadonlyArray<string>]>) => {
    const pairs = places.flatMap(([index, hashes]) => hashes.map((hash) => [`${index}`, hash]));
    return readCounts(sql`
      SELECT value ->> 0 AS name, COUNT(DISTINCT chat_id) AS count
      FROM ${elements(JSON.stringify(pairs))} CROSS JOIN sightings
      WHERE pid = ${pid} AND place_hash = value ->> 1
      GROUP BY value ->> 0`);
  };

  return {
    findShared: operation("findShared", (pid, { hashes, including, excluding, limit }) => {
      const places = JSON.stringify(hashes.map((hash) => [hash]));
      const freshest = firstRowsOfEach({
        json: places,
        table: "sightings",
        key: "chat_id",
        condition: sql`pid = ${pid} AND place_hash = value ->> 0
        AND NOT (chat_id ${isAmong(excluding)})`,
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
      return readFound(sql`
        WITH freshest AS (
          SELECT chat_id FROM ${freshest}
          GROUP BY chat_id ORDER BY MAX(seen_at) DESC, chat_id LIMIT ${limit}
        )
        SELECT chat_id, place_hash, seen_at FROM ${seen}
        WHERE place_hash IN (SELECT value ->> 0 FROM ${elements(places)})`);
    }),

    countUsers: operation("countUsers", function* (pid, places) {
      const counts = new Map(
        yield* readCounts(sql`
          SELECT place_hash AS name, users AS count FROM place_users
          WHERE pid = ${pid} AND place_hash ${isAmong(places.flat())}`),
      );
      const sum = (hashes: ReadonlyArray<string>) =>
        hashes.reduce((total, hash) => total + (counts.get(hash) ?? 0), 0);
      const isSplit = (hashes: ReadonlyArray<string>) => hashes.filter((hash) => counts.has(hash)).length > 1;
      const split = [...places.entries()].filter(([, hashes]) => isSplit(hashes));
      const exact = new Map(split.length === 0 ? [] : yield* countDistinct(pid, split));
      return places.map((hashes, index) => exact.get(`${index}`) ?? sum(hashes));
    }),
  };
};

// Decoded without Schema, since a search for alts reads many rows.
const readFound = readerOf("sightings", (row: SqlConnection.Row): FoundSighting | undefined => {
  const { chat_id, place_hash, seen_at } = row;
  if (!isChatId(chat_id) || typeof place_hash !== "string" || !Number.isSafeInteger(seen_at)) {
    return undefined;
  }
  return { chatId: chat_id, hash: place_hash, seenAt: seen_at as number };
});

const readCounts = schemaReaderOf(
  "sightings",
  Schema.Struct({ name: Schema.String, count: Schema.Int }),
  ({ name, count }) => [name, count] as const,
);

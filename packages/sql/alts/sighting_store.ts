import { ChatId, Pid } from "@accountlink/core";
import { isAtAddress, placeOf, type Sighting, textsOf } from "@accountlink/core/addresses";
import { type FoundSighting, SightingStore } from "@accountlink/core/alts";
import { isChatId } from "@accountlink/core/ids";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Schema } from "effect";
import { SqlClient, type SqlConnection } from "effect/sql";
import { linkStatements } from "../links/link_statements.ts";
import { dialectOf } from "../statements/dialect.ts";
import { readerOf, schemaReaderOf, tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";

export const layer = storeLayer(SightingStore)((parts) => {
  const { sql, operation, bulkTransaction, elements, firstRowsOfEach, isAmong, rowsOfEach } = parts;
  const { lockScope } = linkStatements(sql);

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
    findByChatIds: operation("findByChatIds", function* (pid, chatIds, limit) {
      const found = yield* readSightings(sql`
        SELECT ${sightingColumns} FROM sightings
        WHERE pid = ${pid} AND chat_id ${isAmong(JSON.stringify(chatIds))}
        ORDER BY seen_at DESC, chat_id, place_hash LIMIT ${limit}`);
      return found.map(({ sighting }) => sighting);
    }),

    findShared: operation("findShared", (pid, { hashes, including, excluding, limit }) => {
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
          WHERE pid = ${pid} AND place_hash ${isAmong(JSON.stringify(places.flat()))}`),
      );
      const sum = (hashes: ReadonlyArray<string>) =>
        hashes.reduce((total, hash) => total + (counts.get(hash) ?? 0), 0);
      const isSplit = (hashes: ReadonlyArray<string>) => hashes.filter((hash) => counts.has(hash)).length > 1;
      const split = [...places.entries()].filter(([, hashes]) => isSplit(hashes));
      const exact = new Map(split.length === 0 ? [] : yield* countDistinct(pid, split));
      return places.map((hashes, index) => exact.get(`${index}`) ?? sum(hashes));
    }),

    countByKey: bulkTransaction("countByKey", function* () {
      return new Map(
        yield* readCounts(sql`
          SELECT address_key_id AS name, COUNT(*) AS count FROM sightings
          WHERE address_key_id IS NOT NULL GROUP BY address_key_id`),
      );
    }),

    listUnderOtherKeys: bulkTransaction("listUnderOtherKeys", function* (addressKeyId, after, limit) {
      assertStorable([addressKeyId]);
      const isAfter =
        after === null
          ? sql`1 = 1`
          : sql`(pid, chat_id, place_hash) > (${after.pid}, ${after.chatId}, ${after.address.hash})`;
      const found = yield* readSightings(sql`
        SELECT ${sightingColumns} FROM sightings
        WHERE address_key_id <> ${addressKeyId} AND ${isAfter}
        ORDER BY pid, chat_id, place_hash LIMIT ${limit}`);
      return found.flatMap(({ pid, sighting }) => (isAtAddress(sighting) ? [{ pid, ...sighting }] : []));
    }),

    reprotect: bulkTransaction("reprotect", function* (pid, sightings) {
      // Lock the scope before the sightings, like deleteScope, to avoid deadlocks.
      yield* lockScope(pid);
      const named = JSON.stringify(sightings.map(({ chatId, hash }) => [chatId, hash]));
      const removed = yield* readRemoved(sql`
        DELETE FROM sightings
        WHERE pid = ${pid} AND address_key_id IS NOT NULL AND (chat_id, place_hash) IN (
          SELECT value ->> 0, value ->> 1 FROM ${elements(named)})
        RETURNING chat_id, place_hash, seen_at`);
      const seenAt = new Map(removed);
      const kept = sightings.flatMap(({ chatId, hash, address }): ReadonlyArray<Sighting> => {
        const at = seenAt.get(nameOf(chatId, hash));
        return at === undefined ? [] : [{ chatId, address, seenAt: at }];
      });
      yield* storeSightings(sql, pid, kept);
    }),
  };
});

/**
 * Stores sightings of a scope. The table has one row for each chat user and place. The row holds the latest sighting,
 * and the time of the first sighting.
 */
export const storeSightings = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  pid: Pid,
  sightings: ReadonlyArray<Sighting>,
) {
  assertStorable(sightings.flatMap(textsOf));
  // A statement cannot write a row twice, so keep one row for each chat user and place. Sort the rows to avoid
  // deadlocks.
  const seen = new Map<string, ReadonlyArray<string | number | null>>();
  for (const sighting of sightings.toSorted((one, other) => one.seenAt - other.seenAt)) {
    const [{ chatId, seenAt }, place] = [sighting, placeOf(sighting)];
    const { sealed = null, addressKeyId = null } = isAtAddress(sighting) ? sighting.address : {};
    const name = nameOf(chatId, place);
    seen.set(name, [chatId, place, sealed, addressKeyId, seenAt, seen.get(name)?.[5] ?? seenAt]);
  }
  const rows = [...seen].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  yield* sql`
    INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at, first_seen_at)
    SELECT ${pid}, value ->> 0, value ->> 1, value ->> 2, value ->> 3, CAST(value ->> 4 AS BIGINT),
      CAST(value ->> 5 AS BIGINT)
    FROM ${dialectOf(sql).elements(JSON.stringify(rows))} WHERE true
    ON CONFLICT (pid, chat_id, place_hash) DO UPDATE SET
      sealed_address = excluded.sealed_address,
      address_key_id = excluded.address_key_id,
      seen_at = excluded.seen_at
    WHERE excluded.seen_at >= sightings.seen_at`;
});

const nameOf = (chatId: string, place: string): string => `${chatId} ${place}`;

const table = tableOf("sightings", {
  pid: Pid,
  chatId: ChatId,
  placeHash: Schema.String,
  // Null if the place is a browser, which has no address.
  sealedAddress: Schema.NullOr(Schema.String),
  addressKeyId: Schema.NullOr(Schema.String),
  seenAt: Schema.Int,
  firstSeenAt: Schema.Int,
});

export const { columns: sightingColumns } = table;

export const readSightings = table.reader(
  ({ pid, chatId, placeHash: hash, sealedAddress: sealed, addressKeyId, seenAt, firstSeenAt }) => {
    const sighting: Sighting =
      sealed === null || addressKeyId === null
        ? { chatId, seenAt, browser: hash }
        : { chatId, seenAt, address: { hash, sealed, addressKeyId } };
    return { pid, sighting, firstSeenAt };
  },
);

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

const readRemoved = schemaReaderOf(
  "sightings",
  Schema.Struct({ chat_id: Schema.String, place_hash: Schema.String, seen_at: Schema.Int }),
  ({ chat_id, place_hash, seen_at }) => [nameOf(chat_id, place_hash), seen_at] as const,
);

import { ChatId, Pid } from "@accountlink/core";
import { isAtAddress, placeOf, type Sighting, textsOf } from "@accountlink/core/addresses";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { tableOf } from "../statements/row.ts";

const { columns, reader } = tableOf("sightings", {
  pid: Pid,
  chatId: ChatId,
  placeHash: Schema.String,
  // Null if the place is a browser, which has no address.
  sealedAddress: Schema.NullOr(Schema.String),
  addressKeyId: Schema.NullOr(Schema.String),
  seenAt: Schema.Int,
  firstSeenAt: Schema.NullOr(Schema.Int),
});

export const sightingColumns = columns;

export const readSightings = reader(
  ({ pid, chatId, placeHash: hash, sealedAddress: sealed, addressKeyId, seenAt, firstSeenAt }) => {
    const sighting: Sighting =
      sealed === null || addressKeyId === null
        ? { chatId, seenAt, browser: hash }
        : { chatId, seenAt, address: { hash, sealed, addressKeyId } };
    return { pid, sighting, firstSeenAt };
  },
);

/**
 * Stores sightings of a scope. The table has one row for each chat user and place. The row holds the latest sighting,
 * and the time of the first sighting.
 */
export const storeSightings = (sql: SqlClient.SqlClient, pid: Pid, sightings: ReadonlyArray<Sighting>) => {
  // A statement cannot write a row twice, so keep one row for each chat user and place. Sort the rows to avoid
  // deadlocks.
  const seen = new Map<string, ReadonlyArray<string | number | null>>();
  for (const sighting of sightings.toSorted((one, other) => one.seenAt - other.seenAt)) {
    const [{ chatId, seenAt }, place] = [sighting, placeOf(sighting)];
    const { sealed = null, addressKeyId = null } = isAtAddress(sighting) ? sighting.address : {};
    const name = `${chatId} ${place}`;
    seen.set(name, [chatId, place, sealed, addressKeyId, seenAt, seen.get(name)?.[5] ?? seenAt]);
  }
  const rows = [...seen].toSorted(byName).map(([, row]) => row);
  const insert = sql`
    INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at, first_seen_at)
    SELECT ${pid}, value ->> 0, value ->> 1, value ->> 2, value ->> 3, CAST(value ->> 4 AS BIGINT),
      CAST(value ->> 5 AS BIGINT)
    FROM ${dialectOf(sql).elements(JSON.stringify(rows))} WHERE true
    ON CONFLICT (pid, chat_id, place_hash) DO UPDATE SET
      sealed_address = excluded.sealed_address,
      address_key_id = excluded.address_key_id,
      seen_at = excluded.seen_at
    WHERE excluded.seen_at >= sightings.seen_at`;
  const texts = sightings.flatMap(textsOf);
  return Effect.andThen(
    Effect.sync(() => assertStorable(texts)),
    insert,
  );
};

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

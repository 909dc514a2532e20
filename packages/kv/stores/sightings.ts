import type { ChatId, Pid } from "@accountlink/core";
import { isAtAddress, placeOf, type Sighting, textsOf } from "@accountlink/core/addresses";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { scopeAt } from "./scopes.ts";

export interface StoredSighting {
  readonly pid: Pid;
  readonly epoch: number;
  readonly sighting: Sighting;
  readonly firstSeenAt: Millis;
}

export const sightings = table<StoredSighting>()(
  "sighting",
  ({ pid, sighting }) => [pid, sighting.chatId, placeOf(sighting)],
  {
    byUser: {
      keys: ({ pid, sighting }) => [[sighting.chatId, pid, placeOf(sighting)]],
      group: 1,
    },
    /** The latest sighting of a user in a scope first. */
    byUserOfScope: {
      keys: ({ pid, epoch, sighting }) => [
        [pid, epoch, sighting.chatId, -sighting.seenAt, placeOf(sighting)],
      ],
    },
    /** The user who was last seen at a place first. */
    byPlace: {
      keys: ({ pid, epoch, sighting }) => [
        [pid, epoch, placeOf(sighting), -sighting.seenAt, sighting.chatId],
      ],
    },
    byTime: { keys: ({ pid, sighting }) => [[sighting.seenAt, pid, sighting.chatId, placeOf(sighting)]] },
    byKey: {
      keys: ({ pid, sighting }) =>
        isAtAddress(sighting)
          ? [[sighting.address.addressKeyId, pid, sighting.chatId, sighting.address.hash]]
          : [],
    },
  },
);

/** How many keys a sighting has, its guard included. */
export const keysOfSighting = 7;

export const findSighting = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  epoch: number,
  chatId: ChatId,
  place: string,
) {
  const found = yield* tx.get(sightings, pid, chatId, place);
  return found?.epoch === epoch ? found : undefined;
});

/**
 * Stores sightings of a scope. For each chat user and place (an address or a browser), only the latest sighting and the
 * time of the first one are kept.
 */
export const storeSightings = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  seen: ReadonlyArray<Sighting>,
) {
  const { epoch } = yield* scopeAt(tx, pid);
  assertStorable(seen.flatMap(textsOf));
  for (const sighting of seen.toSorted((one, other) => one.seenAt - other.seenAt)) {
    const { chatId, seenAt } = sighting;
    const known = yield* findSighting(tx, pid, epoch, chatId, placeOf(sighting));
    if (known !== undefined && known.sighting.seenAt > seenAt) continue;
    yield* tx.put(sightings, { pid, epoch, sighting, firstSeenAt: known?.firstSeenAt ?? seenAt });
  }
});

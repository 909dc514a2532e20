/** Writes of sightings, which keep the number of chat users in each place. */
import type { Pid } from "@accountlink/core";
import { placeOf, type Sighting } from "@accountlink/core/addresses";
import { Effect } from "effect";
import { requireScope } from "../keys/accounts.ts";
import { placeUsers, sightings } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

/** Stores sightings of a scope; the latest for each chat user and place. */
export const storeSightings = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  seen: ReadonlyArray<Sighting>,
) {
  yield* requireScope(tx, pid);
  for (const sighting of seen) {
    const place = placeOf(sighting);
    const known = yield* sightings.find(tx, pid, sighting.chatId, place);
    if (known === undefined) yield* countUser(tx, pid, place, 1);
    else if (known.sighting.seenAt > sighting.seenAt) continue;
    yield* sightings.put(tx, { pid, sighting });
  }
});

export const removeSighting = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, sighting: Sighting) {
  const place = placeOf(sighting);
  yield* countUser(tx, pid, place, -1);
  yield* sightings.remove(tx, pid, sighting.chatId, place);
});

const countUser = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, place: string, change: 1 | -1) {
  const users = ((yield* placeUsers.find(tx, pid, place))?.users ?? 0) + change;
  yield* users === 0 ? placeUsers.remove(tx, pid, place) : placeUsers.put(tx, { pid, place, users });
});

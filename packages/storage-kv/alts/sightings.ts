/** Writes of sightings, which keep the number of chat users at each address. */
import type { Pid } from "@accountlink/core";
import type { Sighting } from "@accountlink/core/addresses";
import { Effect } from "effect";
import { requireScope } from "../keys/accounts.ts";
import { addressUsers, sightings } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

/** Stores sightings of a scope; the latest for each chat user and address. */
export const storeSightings = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  seen: ReadonlyArray<Sighting>,
) {
  yield* requireScope(tx, pid);
  for (const sighting of seen) {
    const { chatId, address, seenAt } = sighting;
    const known = yield* sightings.find(tx, pid, chatId, address.hash);
    if (known === undefined) yield* countUser(tx, pid, address.hash, 1);
    else if (known.sighting.seenAt > seenAt) continue;
    yield* sightings.put(tx, { pid, sighting });
  }
});

export const removeSighting = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  { chatId, address: { hash } }: Sighting,
) {
  yield* countUser(tx, pid, hash, -1);
  yield* sightings.remove(tx, pid, chatId, hash);
});

const countUser = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, hash: string, change: 1 | -1) {
  const users = ((yield* addressUsers.find(tx, pid, hash))?.users ?? 0) + change;
  yield* users === 0 ? addressUsers.remove(tx, pid, hash) : addressUsers.put(tx, { pid, hash, users });
});

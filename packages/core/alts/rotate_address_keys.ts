/** The rotation of address keys: stored sightings are brought under the newest key. */

import { Effect, Option } from "effect";
import { AddressVault } from "../addresses/address_vault.ts";
import { groupBy } from "../group_by.ts";
import type { Pid } from "../ids.ts";
import { type ReprotectedSighting, SightingStore, type StoredSighting } from "./sighting_store.ts";

/** @internal */
export interface AddressRotation {
  /** How many sightings it has brought under the newest key. */
  readonly rotated: number;
  /** How many stay as they are, since no key of the deployment opens them. */
  readonly unreadable: number;
  /** How many were under other keys when it began. */
  readonly total: number;
}

/** How many sightings are read at once. */
const pageSize = 500;

/**
 * Brings every sighting under the newest address key. It can be repeated at any time: what is under that key is left
 * alone, so a rotation that was cut off is resumed.
 *
 * @param tell is told after each page
 *
 * @internal
 */
export const rotateAddressKeys = Effect.fnUntraced(function* (
  tell: (progress: AddressRotation) => Effect.Effect<void> = () => Effect.void,
) {
  const vault = yield* AddressVault;
  const store = yield* SightingStore;
  const counts = yield* store.countByKey();
  let [rotated, unreadable, total] = [0, 0, 0];
  for (const [keyId, count] of counts) if (keyId !== vault.newestKeyId) total += count;

  let page: ReadonlyArray<StoredSighting> = [];
  do {
    page = yield* store.listUnderOtherKeys(vault.newestKeyId, page.at(-1) ?? null, pageSize);
    for (const [pid, sightings] of groupBy(page, (sighting) => sighting.pid)) {
      const reprotected = yield* reprotect(pid, sightings);
      rotated += reprotected;
      unreadable += sightings.length - reprotected;
    }
    yield* tell({ rotated, unreadable, total });
  } while (page.length === pageSize);
  return { rotated, unreadable, total };
});

/** Gives how many of the sightings could be read. */
const reprotect = Effect.fnUntraced(function* (pid: Pid, sightings: ReadonlyArray<StoredSighting>) {
  const vault = yield* AddressVault;
  const readable: Array<ReprotectedSighting> = [];
  for (const { chatId, address } of sightings) {
    const revealed = yield* vault.reveal(address);
    if (Option.isNone(revealed)) continue;
    readable.push({ chatId, hash: address.hash, address: yield* vault.protect(revealed.value) });
  }
  if (readable.length > 0) yield* (yield* SightingStore).reprotect(pid, readable);
  return readable.length;
});

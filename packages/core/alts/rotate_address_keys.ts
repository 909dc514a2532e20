import { Effect, Option } from "effect";
import { AddressVault } from "../addresses/address_vault.ts";
import { groupBy } from "../group_by.ts";
import type { Pid } from "../ids.ts";
import { type ReprotectedSighting, SightingStore, type StoredSighting } from "./sighting_store.ts";

/** @internal */
export interface AddressRotation {
  /** How many sightings were encrypted again with the newest key. */
  readonly rotated: number;
  /** How many sightings stayed unchanged, because no key of the deployment decrypts them. */
  readonly unreadable: number;
  /** How many sightings were not encrypted with the newest key when the rotation started. */
  readonly total: number;
}

const pageSize = 500;

/**
 * Encrypts every sighting again with the newest address key. Sightings under that key are skipped, so an interrupted
 * rotation can be run again.
 *
 * @param tell called after each page of sightings
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

/** Encrypts the decryptable sightings with the newest key, and returns their number. */
const reprotect = Effect.fnUntraced(function* (pid: Pid, sightings: ReadonlyArray<StoredSighting>) {
  const vault = yield* AddressVault;
  const readable: Array<ReprotectedSighting> = [];
  const revealed = yield* vault.revealEach(sightings.map(({ address }) => address));
  for (const [index, { chatId, address }] of sightings.entries()) {
    const shown = revealed[index] ?? Option.none();
    if (Option.isNone(shown)) continue;
    readable.push({ chatId, hash: address.hash, address: yield* vault.protect(shown.value) });
  }
  if (readable.length > 0) yield* (yield* SightingStore).reprotect(pid, readable);
  return readable.length;
});

import type { ChatId } from "@accountlink/core";
import type { Sighting } from "@accountlink/core/addresses";
import { type FoundSighting, latestUsers, type SharedSightings } from "@accountlink/core/alts";

/** The sightings of one scope, found by chat user and by the hash of the address. */
export class ScopeSightings {
  readonly #byChatId = new Map<ChatId, Map<string, Sighting>>();
  readonly #byHash = new Map<string, Map<ChatId, Sighting>>();

  /** Every sighting. */
  all(): ReadonlyArray<Sighting> {
    return [...this.#byChatId.values()].flatMap((sightings) => [...sightings.values()]);
  }

  of(chatId: ChatId): ReadonlyArray<Sighting> {
    return [...(this.#byChatId.get(chatId)?.values() ?? [])];
  }

  find(chatId: ChatId, hash: string): Sighting | undefined {
    return this.#byChatId.get(chatId)?.get(hash);
  }

  /** Stores the sighting in the place of the one that its chat user had at its address. */
  put(sighting: Sighting): void {
    const { chatId, address } = sighting;
    inside(this.#byChatId, chatId).set(address.hash, sighting);
    inside(this.#byHash, address.hash).set(chatId, sighting);
  }

  remove(chatId: ChatId, hash: string): void {
    takeOut(this.#byChatId, chatId, hash);
    takeOut(this.#byHash, hash, chatId);
  }

  /** How many chat users were seen at an address that may be stored under these hashes. */
  countUsers(hashes: ReadonlyArray<string>): number {
    const [first = "", ...others] = hashes;
    const users = this.#byHash.get(first);
    if (others.length === 0) return users?.size ?? 0;
    return new Set(hashes.flatMap((hash) => [...(this.#byHash.get(hash)?.keys() ?? [])])).size;
  }

  /** Who was seen at addresses, as `SightingStore.findShared` says. */
  findShared(query: SharedSightings): ReadonlyArray<FoundSighting> {
    const { hashes, including } = query;
    const there = hashes.flatMap((hash) => [...(this.#byHash.get(hash)?.values() ?? [])]);
    return [...new Set([...latestUsers(there, query), ...including])].flatMap((chatId) =>
      hashes.flatMap((hash) => {
        const sighting = this.find(chatId, hash);
        return sighting === undefined ? [] : [{ chatId, hash, seenAt: sighting.seenAt }];
      }),
    );
  }
}

const inside = <K, L, V>(maps: Map<K, Map<L, V>>, key: K): Map<L, V> => {
  const known = maps.get(key) ?? new Map<L, V>();
  maps.set(key, known);
  return known;
};

const takeOut = <K, L>(maps: Map<K, Map<L, unknown>>, key: K, inner: L): void => {
  const known = maps.get(key);
  known?.delete(inner);
  if (known?.size === 0) maps.delete(key);
};

import type { ChatId } from "@accountlink/core";
import { isAtAddress, isInBrowser, placeOf, type Sighting } from "@accountlink/core/addresses";
import type { FoundSighting, SharedSightings } from "@accountlink/core/alts";
import type { Millis } from "@accountlink/core/timestamp";
import type { Places } from "@accountlink/core/users";
import { Order } from "effect";
import { getOrInsert } from "./get_or_insert.ts";

/** The sightings of one scope, by chat user and by the hash of the place, which is an address or a browser. */
export class ScopeSightings {
  readonly #byChatId = new Map<ChatId, Map<string, Sighting>>();
  readonly #byPlace = new Map<string, Map<ChatId, Sighting>>();
  readonly #firstSeen = new Map<ChatId, Map<string, Millis>>();

  all(): ReadonlyArray<Sighting> {
    return [...this.#byChatId.values()].flatMap((sightings) => [...sightings.values()]);
  }

  of(chatId: ChatId): ReadonlyArray<Sighting> {
    return [...(this.#byChatId.get(chatId)?.values() ?? [])];
  }

  find(chatId: ChatId, place: string): Sighting | undefined {
    return this.#byChatId.get(chatId)?.get(place);
  }

  /** Stores the sighting, replacing the chat user's earlier one at the same place. */
  put(sighting: Sighting): void {
    const [{ chatId }, place] = [sighting, placeOf(sighting)];
    getOrInsert(this.#byChatId, chatId, () => new Map<string, Sighting>()).set(place, sighting);
    getOrInsert(this.#byPlace, place, () => new Map<ChatId, Sighting>()).set(chatId, sighting);
    const first = getOrInsert(this.#firstSeen, chatId, () => new Map<string, Millis>());
    getOrInsert(first, place, () => sighting.seenAt);
  }

  /** Returns the browsers of a chat user with the time of the first sighting in each. */
  browsersOf(chatId: ChatId) {
    return this.of(chatId)
      .filter(isInBrowser)
      .map((sighting) => ({
        sighting,
        firstSeenAt: this.#firstSeen.get(chatId)?.get(sighting.browser) ?? null,
      }));
  }

  remove(chatId: ChatId, place: string): void {
    takeOut(this.#byChatId, chatId, place);
    takeOut(this.#byPlace, place, chatId);
    takeOut(this.#firstSeen, chatId, place);
  }

  /** Removes the sightings of a chat user at addresses or in browsers, and returns how many there were. */
  forget(chatId: ChatId, places: Places): number {
    const isForgotten = places === "browsers" ? isInBrowser : isAtAddress;
    const forgotten = this.of(chatId).filter(isForgotten);
    for (const sighting of forgotten) this.remove(chatId, placeOf(sighting));
    return forgotten.length;
  }

  /**
   * Counts the chat users who were seen at one address or in one browser. `hashes` are all hashes under which this
   * address or browser may be stored.
   */
  countUsers(hashes: ReadonlyArray<string>): number {
    const [first = "", ...others] = hashes;
    const users = this.#byPlace.get(first);
    if (others.length === 0) return users?.size ?? 0;
    return new Set(hashes.flatMap((hash) => [...(this.#byPlace.get(hash)?.keys() ?? [])])).size;
  }

  /** Implements `SightingStore.findShared`: who else was seen at the same places. */
  findShared(query: SharedSightings): ReadonlyArray<FoundSighting> {
    const { hashes, including } = query;
    const there = hashes.flatMap((hash) => [...(this.#byPlace.get(hash)?.values() ?? [])]);
    return [...new Set([...latestUsers(there, query), ...including])].flatMap((chatId) =>
      hashes.flatMap((hash) => {
        const sighting = this.find(chatId, hash);
        return sighting === undefined ? [] : [{ chatId, hash, seenAt: sighting.seenAt }];
      }),
    );
  }
}

/** Returns the `limit` most recently seen users, without the excluded ones. Equal times are sorted by chat ID. */
const latestUsers = (
  sightings: Iterable<Sighting>,
  { excluding, limit }: SharedSightings,
): ReadonlyArray<ChatId> => {
  const excluded = new Set(excluding);
  const lastSeenAt = new Map<ChatId, number>();
  for (const { chatId, seenAt } of sightings) {
    if (excluded.has(chatId)) continue;
    lastSeenAt.set(chatId, Math.max(seenAt, lastSeenAt.get(chatId) ?? seenAt));
  }
  return [...lastSeenAt]
    .toSorted(([one, seen], [other, seenOther]) => seenOther - seen || Order.String(one, other))
    .slice(0, limit)
    .map(([chatId]) => chatId);
};

const takeOut = <K, L>(maps: Map<K, Map<L, unknown>>, key: K, inner: L): void => {
  const known = maps.get(key);
  known?.delete(inner);
  if (known?.size === 0) maps.delete(key);
};

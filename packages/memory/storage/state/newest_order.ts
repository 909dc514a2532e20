import type { ChatId } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";

/** Where a link stands in an order: by its time, and by its chat ID among links of one time. */
export interface Place {
  readonly chatId: ChatId;
  readonly at: Millis;
}

/**
 * Links by a time of theirs, newest first. Most writes have the latest time, so they are appended; others
 * are sorted in before the next read. Earlier places of a link are skipped, and removed when they
 * are many.
 */
export class NewestOrder {
  /** Oldest first; of one time, by descending chat ID. */
  #places: Array<Place> = [];
  #isSorted = true;

  add(place: Place): void {
    const last = this.#places.at(-1);
    if (last !== undefined && isOlder(place, last)) this.#isSorted = false;
    this.#places.push(place);
  }

  /**
   * The links after a place, newest first.
   *
   * @param linkAt the link that has its place there, if it still has
   */
  after<A>(place: Place | null, limit: number, linkAt: (place: Place) => A | undefined): ReadonlyArray<A> {
    this.#sort();
    const found: Array<A> = [];
    for (let i = this.#indexBefore(place); i >= 0 && found.length < limit; i--) {
      const link = linkAt(this.#places[i] as Place);
      if (link !== undefined && link !== found.at(-1)) found.push(link);
    }
    return found;
  }

  /** Removes the places that links have left, once they are more than the links. */
  compact(links: number, linkAt: (place: Place) => unknown): void {
    if (this.#places.length <= 2 * links + 1_000) return;
    this.#places = this.#places.filter((place) => linkAt(place) !== undefined);
  }

  clear(): void {
    this.#places = [];
    this.#isSorted = true;
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#places.sort((one, other) => (isOlder(one, other) ? -1 : isOlder(other, one) ? 1 : 0));
    this.#isSorted = true;
  }

  /** The index of the newest place that comes after `place`. */
  #indexBefore(place: Place | null): number {
    if (place === null) return this.#places.length - 1;
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isOlder(this.#places[middle] as Place, place)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** Whether one place comes after another, newest first. */
const isOlder = (one: Place, other: Place): boolean =>
  one.at === other.at ? one.chatId > other.chatId : one.at < other.at;

import type { ChatId } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";

/** The position of a link in an order: its time, then its chat ID. */
export interface Place {
  readonly chatId: ChatId;
  readonly at: Millis;
}

/**
 * Links ordered by one of their times, newest first. A link whose time changes gets a new place. Reads skip the
 * outdated place until `compact` removes it.
 *
 * A new place is appended, because it usually has the latest time. If it does not, the next read sorts all places.
 */
export class NewestOrder {
  /** Oldest first; equal times by descending chat ID. */
  #places: Array<Place> = [];
  #isSorted = true;

  add(place: Place): void {
    const last = this.#places.at(-1);
    if (last !== undefined && isOlder(place, last)) this.#isSorted = false;
    this.#places.push(place);
  }

  /**
   * Returns the links after a place, newest first. If the place is null, the result starts with the newest link.
   *
   * @param linkAt returns the link at a place; undefined if the place is outdated
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

  /** Returns up to `limit` links that are newer than a place: those nearest to the place, newest first. */
  before<A>(place: Place, limit: number, linkAt: (place: Place) => A | undefined): ReadonlyArray<A> {
    this.#sort();
    const found: Array<A> = [];
    for (let i = this.#indexBefore(place) + 1; i < this.#places.length && found.length < limit; i++) {
      const at = this.#places[i] as Place;
      const link = isOlder(place, at) ? linkAt(at) : undefined;
      if (link !== undefined && link !== found.at(-1)) found.push(link);
    }
    return found.toReversed();
  }

  /** Removes outdated and repeated places if there are over 1,000 more of them than links. */
  compact(links: number, linkAt: (place: Place) => unknown): void {
    if (this.#places.length <= 2 * links + 1_000) return;
    this.#sort();
    this.#places = this.#places.filter((place, index, places) => {
      const last = places[index - 1];
      return linkAt(place) !== undefined && (last === undefined || isOlder(last, place));
    });
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

  /** The index of the newest place that is older than `place`, or of the newest place of all if `place` is null. */
  #indexBefore(place: Place | null): number {
    const older =
      place === null ? this.#places.length : countFirst(this.#places, (one) => isOlder(one, place));
    return older - 1;
  }
}

/** Returns how many items at the beginning of a list hold, after which none does. */
export const countFirst = <A>(sorted: ReadonlyArray<A>, holds: (item: A) => boolean): number => {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(sorted[middle] as A)) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Whether `one` is older than `other`. If their times are equal, the greater chat ID counts as older. */
const isOlder = (one: Place, other: Place): boolean =>
  one.at === other.at ? one.chatId > other.chatId : one.at < other.at;

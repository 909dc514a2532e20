import type { Link } from "@accountlink/core";
import type { NewestPosition } from "@accountlink/core/links";

/**
 * Links by their latest verification. Most writes have the latest time, so they are appended; others
 * are sorted in before the next read. Earlier places of a link are skipped, and removed when they
 * are many.
 */
export class VerifiedOrder {
  /** Oldest first; of one time, by descending chat ID. */
  #places: Array<NewestPosition> = [];
  #isSorted = true;

  add({ chatId, lastVerifiedAt }: Link): void {
    const place = { chatId, lastVerifiedAt };
    const last = this.#places.at(-1);
    if (last !== undefined && isOlder(place, last)) this.#isSorted = false;
    this.#places.push(place);
  }

  /**
   * The links after a place, newest first.
   *
   * @param linkAt the link that has its place there, if it still has
   */
  after(
    place: NewestPosition | null,
    limit: number,
    linkAt: (place: NewestPosition) => Link | undefined,
  ): ReadonlyArray<Link> {
    this.#sort();
    const found: Array<Link> = [];
    for (let i = this.#indexBefore(place); i >= 0 && found.length < limit; i--) {
      const link = linkAt(this.#places[i] as NewestPosition);
      if (link !== undefined && link !== found.at(-1)) found.push(link);
    }
    return found;
  }

  /** Removes the places that links have left. */
  compact(linkAt: (place: NewestPosition) => Link | undefined): void {
    this.#places = this.#places.filter((place) => linkAt(place) !== undefined);
  }

  get size(): number {
    return this.#places.length;
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
  #indexBefore(place: NewestPosition | null): number {
    if (place === null) return this.#places.length - 1;
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isOlder(this.#places[middle] as NewestPosition, place)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** Whether one place comes after another in the order of `LinkStore.newestPage`. */
const isOlder = (one: NewestPosition, other: NewestPosition): boolean =>
  one.lastVerifiedAt === other.lastVerifiedAt
    ? one.chatId > other.chatId
    : one.lastVerifiedAt < other.lastVerifiedAt;

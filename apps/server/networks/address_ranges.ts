/**
 * A set of address ranges in sorted arrays of integers: 8 bytes per IPv4 range, 16 per IPv6 range, and 256 KiB for an
 * index of the upper 16 bits, which shortens the binary search to a few steps.
 */

/** An array of whole numbers that doubles its capacity when it is full. */
class GrowingArray {
  length = 0;
  #numbers = new Uint32Array(1_024);

  push(number: number): void {
    if (this.length === this.#numbers.length) {
      const numbers = new Uint32Array(this.length * 2);
      numbers.set(this.#numbers);
      this.#numbers = numbers;
    }
    this.#numbers[this.length] = number;
    this.length += 1;
  }

  /** Returns the numbers in an array without spare capacity. */
  finish(): Uint32Array<ArrayBuffer> {
    return this.#numbers.slice(0, this.length);
  }
}

/**
 * How many 32-bit words an address has: one for IPv4; two for IPv6, of which only the upper 64 bits are stored. The
 * lower word comes first, so that both words read as one 64-bit integer on the little-endian processors that Node
 * runs on.
 */
type Width = 1 | 2;

/** Accepts ranges in any order, including overlapping ones. */
export class AddressRangesBuilder {
  readonly #width: Width;
  readonly #starts = new GrowingArray();
  readonly #ends = new GrowingArray();

  constructor(width: Width) {
    this.#width = width;
  }

  add(first: number, last: number): void {
    this.#starts.push(first);
    this.#ends.push(last);
  }

  addWide(first: bigint, last: bigint): void {
    for (const [keys, key] of [
      [this.#starts, first],
      [this.#ends, last],
    ] as const) {
      keys.push(Number(key & 0xff_ff_ff_ffn));
      keys.push(Number(key >> 32n));
    }
  }

  build(): AddressRanges {
    const starts = this.#starts.finish();
    const ends = this.#ends.finish();
    const count =
      this.#width === 1
        ? sortAndMerge(starts, ends)
        : sortAndMerge(new BigUint64Array(starts.buffer), new BigUint64Array(ends.buffer));
    const words = count * this.#width;
    const isMerged = words < starts.length;
    return new AddressRanges(
      this.#width,
      isMerged ? starts.slice(0, words) : starts,
      isMerged ? ends.slice(0, words) : ends,
    );
  }
}

interface Keys<Key> {
  [at: number]: Key;
  readonly length: number;
  sort(): unknown;
}

/**
 * Turns ranges into disjoint, ascending ranges in place, and returns their number. Starts and ends are sorted
 * separately, since it does not matter which end belongs to which start: an address is in some range if more ranges
 * start at or before it than end before it.
 */
const sortAndMerge = <Key extends number | bigint>(starts: Keys<Key>, ends: Keys<Key>): number => {
  starts.sort();
  ends.sort();
  let merged = 0;
  let ended = 0;
  for (let started = 0; started < starts.length; ) {
    const first = starts[started] as Key;
    do {
      if (started < starts.length && (starts[started] as Key) <= (ends[ended] as Key)) started += 1;
      else ended += 1;
    } while (ended < started);
    starts[merged] = first;
    ends[merged] = ends[ended - 1] as Key;
    merged += 1;
  }
  return merged;
};

/** A set of address ranges, which are disjoint and in ascending order. */
export class AddressRanges {
  readonly count: number;
  readonly #width: Width;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  /** Item `n` is the number of ranges that start at an address whose upper 16 bits are below `n`. */
  readonly #index = new Uint32Array(65_537);

  constructor(width: Width, starts: Uint32Array, ends: Uint32Array) {
    this.count = starts.length / width;
    this.#width = width;
    this.#starts = starts;
    this.#ends = ends;
    const index = this.#index;
    for (let word = width - 1; word < starts.length; word += width) {
      const above = ((starts[word] as number) >>> 16) + 1;
      index[above] = (index[above] as number) + 1;
    }
    for (let upper = 1; upper < index.length; upper += 1) {
      index[upper] = (index[upper] as number) + (index[upper - 1] as number);
    }
  }

  /**
   * Returns true if a range contains the address.
   *
   * @param high an IPv4 address, or the first 32 bits of an IPv6 address
   * @param low the next 32 bits of an IPv6 address; ignored for IPv4
   */
  has(high: number, low: number): boolean {
    const upper = high >>> 16;
    let from = this.#index[upper] as number;
    let to = this.#index[upper + 1] as number;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#compare(this.#starts, middle, high, low) <= 0) from = middle + 1;
      else to = middle;
    }
    return from > 0 && this.#compare(this.#ends, from - 1, high, low) >= 0;
  }

  #compare(keys: Uint32Array, at: number, high: number, low: number): number {
    if (this.#width === 1) return (keys[at] as number) - high;
    const upper = (keys[2 * at + 1] as number) - high;
    return upper === 0 ? (keys[2 * at] as number) - low : upper;
  }
}

/** The random numbers of a simulation, from one seed. */

/**
 * A sequence of random numbers (sfc32), the same for each seed.
 *
 * @example
 * ```ts
 * new Chance(7).below(100) === new Chance(7).below(100); // true
 * new Chance(7).pick(["a"]); // "a"
 * ```
 */
export class Chance {
  #a = 0x9e3779b9;
  #b = 0x243f6a88;
  #c: number;
  #d = 1;

  constructor(seed: number) {
    this.#c = seed | 0;
    this.#b ^= Math.floor(seed / 2 ** 32);
    for (let i = 0; i < 12; i++) this.bits();
  }

  /** 32 random bits, as an unsigned number. */
  bits(): number {
    const sum = (this.#a + this.#b + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** A number from 0 to 1, but never 1. */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /** A whole number below a bound. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  between(least: number, most: number): number {
    return least + this.fraction() * (most - least);
  }

  happens(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<A>(values: ReadonlyArray<A>): A {
    return values[this.below(values.length)] as A;
  }

  /** Fills an array, as `crypto.getRandomValues` does. */
  fill<View extends ArrayBufferView>(view: View): View {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.bits();
    return view;
  }
}

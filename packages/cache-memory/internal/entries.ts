import type { Millis } from "@accountlink/core";
import { Option } from "effect";

interface Entry {
  readonly value: Option.Option<string>;
  readonly expiresAt: Millis;
}

/** Short-lived values, at most `maxEntries` of them. */
export class Entries {
  readonly #maxEntries: number;
  /** A Map keeps the order of insertion, and what is used is inserted anew: the first is the one unused for longest. */
  readonly #entries = new Map<string, Entry>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** How many entries are held, those that are over but not yet dropped included. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string, now: Millis): Option.Option<string> {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAt <= now) {
      this.#dropEnded(now);
      return Option.none();
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: string, expiresAt: Millis): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value: Option.some(value), expiresAt });
    if (this.#entries.size > this.#maxEntries) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  // What is over is mostly unused for longest, so the front of the map is where it gathers. Done on a miss, since a
  // miss is what makes the cache grow.
  #dropEnded(now: Millis): void {
    for (const [key, { expiresAt }] of this.#entries) {
      if (now < expiresAt) return;
      this.#entries.delete(key);
    }
  }
}

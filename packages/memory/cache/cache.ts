import { Cache } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";

const capacity = 10_000;

/** An in-memory cache of up to 10,000 entries, which drops the least recently used ones. */
export const layer: Layer.Layer<Cache> = Layer.sync(Cache, () => {
  const entries = new Entries(capacity);
  return Cache.of({
    get: (key, now) => Effect.sync(() => entries.get(key, now)),
    getMany: (keys, now) => Effect.sync(() => keys.map((key) => entries.get(key, now))),
    set: (key, value, expiresAt) => Effect.sync(() => entries.set(key, value, expiresAt)),
  });
});

interface Entry {
  readonly value: Option.Option<string>;
  readonly expiresAt: Millis;
}

export class Entries {
  readonly #maxEntries: number;
  /** In order of use: a used entry is inserted again, so the first entry is the least recently used. */
  readonly #entries = new Map<string, Entry>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** The number of entries, including expired ones that are not dropped yet. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: string, now: Millis): Option.Option<string> {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    if (entry === undefined || entry.expiresAt <= now) return Option.none();
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: string, expiresAt: Millis): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value: Option.some(value), expiresAt });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
  }
}

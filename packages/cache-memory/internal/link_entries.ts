import type { CachedRecord, CacheLease, Fence, LinkRecord, Millis, RecordName } from "@accountlink/core";

type Entry = { readonly endsAt: Millis } & (
  | { readonly token: string }
  | { readonly record: LinkRecord | null }
);

const missed: CachedRecord = { _tag: "Miss", token: null };

/** What is known of records, and the fences around them. */
export class LinkEntries {
  readonly run = crypto.randomUUID();
  readonly #entries = new Map<string, Entry>();
  /** When each fence around a record ends, by its id. */
  readonly #fences = new Map<string, Map<string, Millis>>();

  read(lease: CacheLease, name: RecordName, tokenMs: number, now: Millis): CachedRecord {
    const key = keyOf(name);
    if (!this.#isValid(lease, now)) return missed;
    const entry = this.#find(key, now);
    if (entry !== undefined) {
      return "token" in entry ? { _tag: "Miss", token: entry.token } : { _tag: "Hit", record: entry.record };
    }
    if (this.#isFenced(key, now)) return missed;
    this.#entries.set(key, { token: crypto.randomUUID(), endsAt: now + tokenMs });
    return missed;
  }

  put(
    lease: CacheLease,
    name: RecordName,
    { token, record, entryMs }: { token: string; record: LinkRecord | null; entryMs: number },
    now: Millis,
  ): void {
    const key = keyOf(name);
    const entry = this.#find(key, now);
    if (!this.#isValid(lease, now) || entry === undefined) return;
    if ("token" in entry && entry.token === token) this.#entries.set(key, { record, endsAt: now + entryMs });
  }

  fence(lease: CacheLease, { run, records, id }: Fence, fenceMs: number, now: Millis): boolean {
    if (!this.#isValid(lease, now) || run !== this.run) return false;
    for (const key of records.map(keyOf)) {
      this.#entries.delete(key);
      const fences = this.#fences.get(key) ?? new Map<string, Millis>();
      this.#fences.set(key, fences.set(id, now + fenceMs));
    }
    return true;
  }

  lift({ run, records, id }: Fence, now: Millis): boolean {
    if (run !== this.run) return false;
    let stood = true;
    for (const key of records.map(keyOf)) {
      const fences = this.#fences.get(key);
      stood = now < (fences?.get(id) ?? 0) && stood;
      fences?.delete(id);
      if (fences?.size === 0) this.#fences.delete(key);
    }
    return stood;
  }

  #isValid({ run, until }: CacheLease, now: Millis): boolean {
    return run === this.run && now < until;
  }

  #find(key: string, now: Millis): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || now < entry.endsAt) return entry;
    this.#dropEnded(now);
    return undefined;
  }

  #isFenced(key: string, now: Millis): boolean {
    const fences = this.#fences.get(key);
    if (fences === undefined) return false;
    for (const [id, endsAt] of fences) {
      if (endsAt <= now) fences.delete(id);
    }
    if (fences.size === 0) this.#fences.delete(key);
    return fences.size > 0;
  }

  #dropEnded(now: Millis): void {
    for (const [key, { endsAt }] of this.#entries) if (endsAt <= now) this.#entries.delete(key);
  }
}

const keyOf = ({ pid, chatId }: RecordName): string => `${pid} ${chatId}`;

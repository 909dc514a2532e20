/** Searches the journal for the entries that a filter selects, in steps that others need not wait for. */
import { Effect } from "effect";
import { hourMs, type Millis } from "../timestamp.ts";
import { WorkingTimes } from "../turns/mod.ts";
import { type AuditEntry, type AuditFilter, type AuditPage, isSelected } from "./audit.ts";

/** The records that a search reads at most. A filter may select none of the millions that an account has. @internal */
export const mostSearched = 10_000;

/** How many records a step reads; the first one reads as many as the page has, if these are fewer. */
const [fewestRecords, mostRecords] = [20, 500];

/**
 * By how much the time of a record may be before the time of an older one: a change stores its record at its end, with
 * the time of its beginning. @internal
 */
export const mostDisorder = hourMs;

/** A record of the journal, in which the search finds an entry. */
interface Searched {
  readonly sequence: number;
  readonly at: Millis;
}

/**
 * Reads records, newest first, until a page of entries is found, no older record can be selected, or `mostSearched` of
 * them were read. Between its steps, it waits for the working time of the account.
 *
 * @param read returns up to `limit` records before a sequence, newest first
 * @param entryIn the entry of a record; undefined for a record without one, or of another place
 * @internal
 */
export const searchEntries = Effect.fnUntraced(function* <R extends Searched, E, S>(
  account: string,
  read: (before: number, limit: number) => Effect.Effect<ReadonlyArray<R>, E, S>,
  entryIn: (record: R) => AuditEntry | undefined,
  before: number,
  limit: number,
  filter?: AuditFilter,
): Effect.fn.Return<AuditPage, E, S> {
  const { accounts } = yield* WorkingTimes;
  const entries: Array<AuditEntry> = [];
  const from = filter?.during?.from ?? -Infinity;
  // One more entry than the page has, to learn whether there is a next page.
  let [end, size, searched] = [before, Math.min(limit + 1, mostRecords), 0];
  for (;;) {
    const records = yield* read(end, size);
    for (const record of records) {
      const entry = entryIn(record);
      if (entry !== undefined && isSelected(entry, filter)) entries.push(entry);
    }
    if (entries.length > limit) {
      const page = entries.slice(0, limit);
      return { entries: page, next: page.at(-1)?.sequence ?? null };
    }
    const last = records.at(-1);
    if (last === undefined || records.length < size || last.at + mostDisorder < from)
      return { entries, next: null };
    searched += records.length;
    if (searched >= mostSearched) return { entries, next: last.sequence };
    // As many as the missing entries are likely to be among.
    const likely = (1.5 * (limit + 1 - entries.length) * searched) / Math.max(1, entries.length);
    [end, size] = [last.sequence, Math.ceil(Math.min(Math.max(likely, fewestRecords), mostRecords))];
    yield* Effect.yieldNow;
    yield* accounts.rest(account);
  }
});

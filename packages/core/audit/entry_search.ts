/** Searches the journal for the entries that a filter selects, in steps that others need not wait for. */
import { Clock, Effect } from "effect";
import { hourMs, type Millis } from "../timestamp.ts";
import { WorkingTimes } from "../turns/mod.ts";
import { type AuditEntry, type AuditFilter, type AuditPage, isSelected } from "./audit.ts";

/** The records that a search reads at most. A filter may select none of the millions that an account has. @internal */
export const mostSearched = 10_000;

/** How many records a step reads; the first one reads as many as the page has, if these are fewer. */
const [fewestRecords, mostRecords] = [20, 500];

/**
 * By how much the time of a record may be before the time of an older one: a change stores its record at its end, with
 * the time of its beginning.
 */
const mostDisorder = hourMs;

/** A record of the journal, in which the search finds an entry. */
interface Searched {
  readonly sequence: number;
  readonly at: Millis;
}

/** How a store reads the records of an account. */
interface Source<R extends Searched, E, S> {
  /** Returns up to `limit` records before a sequence, newest first. */
  readonly read: (before: number, limit: number) => Effect.Effect<ReadonlyArray<R>, E, S>;
  /** Returns the entry of a record; undefined for a record without one, or of another place. */
  readonly entryIn: (record: R) => AuditEntry | undefined;
  /** Returns a sequence, at most `newest`, from which on no record is older than a time. */
  readonly lastBefore: (newest: number, time: Millis) => Effect.Effect<number, E, S>;
}

/**
 * Reads records, newest first, until a page of entries is found, no older record can be selected, or `mostSearched` of
 * them were read. Between its steps, it waits for the working time of the account.
 * @internal
 */
export const searchEntries = Effect.fnUntraced(function* <R extends Searched, E, S>(
  account: string,
  { read, entryIn, lastBefore }: Source<R, E, S>,
  before: number | null,
  limit: number,
  filter?: AuditFilter,
): Effect.fn.Return<AuditPage, E, S> {
  const { accounts } = yield* WorkingTimes;
  const entries: Array<AuditEntry> = [];
  const { from, before: until } = filter?.during ?? { from: -Infinity, before: Infinity };
  const newest = before ?? Number.MAX_SAFE_INTEGER;
  const isPast = until < (yield* Clock.currentTimeMillis);
  let end = isPast ? yield* lastBefore(newest, until + mostDisorder) : newest;
  // One more entry than the page has, to learn whether there is a next page.
  let [size, searched] = [Math.min(limit + 1, mostRecords), 0];
  for (;;) {
    const records = yield* read(end, size);
    entries.push(
      ...records.flatMap((record) => {
        const entry = entryIn(record);
        return entry !== undefined && isSelected(entry, filter) ? [entry] : [];
      }),
    );
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

/** A list of records, read up to a sequence. */
interface OpenList<List> {
  readonly list: List;
  readonly before: number;
}

/**
 * Reads the newest records of several lists together, a few of each list at first: most lists have none of them.
 *
 * @param read returns up to `most` records of each list before its sequence, newest first; those that are not among the
 * newest `limit` of all may be left out
 * @internal
 */
export const newestOf = Effect.fnUntraced(function* <List, R extends Searched, E, S>(
  lists: ReadonlyArray<List>,
  before: number,
  limit: number,
  read: (
    open: ReadonlyArray<OpenList<List>>,
    most: number,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<R>>, E, S>,
): Effect.fn.Return<ReadonlyArray<R>, E, S> {
  let newest: ReadonlyArray<R> = [];
  let open: ReadonlyArray<OpenList<List>> = lists.map((list) => ({ list, before }));
  let size = Math.max(4, Math.ceil((2 * limit) / lists.length));
  while (open.length > 0) {
    const most = Math.min(size, limit);
    const parts = yield* read(open, most);
    newest = [...newest, ...parts.flat()]
      .toSorted((one, other) => other.sequence - one.sequence)
      .slice(0, limit);
    const oldest = newest.length < limit ? 0 : (newest.at(-1)?.sequence ?? 0);
    open = open.flatMap(({ list }, index) => {
      const part = parts[index] ?? [];
      const last = part.at(-1);
      return last === undefined || part.length < most || last.sequence <= oldest
        ? []
        : [{ list, before: last.sequence }];
    });
    size *= 2;
  }
  return newest;
});

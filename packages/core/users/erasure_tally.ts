/** Counts what an erasure erases, step by step. */
import { Effect } from "effect";
import { groupBy } from "../group_by.ts";
import type { Pid } from "../ids.ts";
import type { UserErased } from "./user_store.ts";

type Counts = Pick<UserErased, "records" | "sightings" | "browsers" | "reviews" | "entries" | "messages">;

/** An erased record: its kind and its scope. The scope is null for an audit entry about an account. @internal */
export interface ErasedThing {
  readonly what: keyof Counts | "events";
  readonly pid: Pid | null;
  /** The sequence of a record of the journal. */
  readonly sequence?: number;
}

/** What the steps of an erasure have erased so far. @internal */
export interface ErasureTally {
  readonly total: Counts;
  /** By scope: the sequence of its `user.erased` entry, and what the entry counts. */
  readonly scopes: ReadonlyMap<Pid, { readonly entry: number; readonly counts: Counts }>;
}

/** @internal */
export const nothingErased: ErasureTally = {
  total: { records: 0, sightings: 0, browsers: 0, reviews: 0, entries: 0, messages: 0 },
  scopes: new Map(),
};

/**
 * Adds what a step erased, and calls `tell` for each affected scope, sorted, since a database deletes in any order and the
 * audit log keeps the order of its entries. Each scope has one `user.erased` entry, whose details later steps replace. If
 * a step erases what was written after that entry, the scope gets another one, because readers of its feed may know the
 * user again. Erased events are not counted.
 *
 * @param tell stores an entry with these details; if `entry` is not null, replaces the details of that entry instead.
 *   Returns the sequence of the entry
 * @internal
 */
export const addErased = Effect.fnUntraced(function* <E>(
  { total, scopes }: ErasureTally,
  things: ReadonlyArray<ErasedThing>,
  tell: (pid: Pid, details: ErasureDetails, entry: number | null) => Effect.Effect<number, E>,
) {
  const told = new Map(scopes);
  const byScope = [...groupBy(things, ({ pid }) => pid)].flatMap(([pid, of]) =>
    pid === null ? [] : [[pid, of] as const],
  );
  for (const [pid, of] of byScope.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const before = told.get(pid);
    const isKnownAgain = ({ what, sequence = 0 }: ErasedThing) =>
      what === "records" || (before !== undefined && sequence > before.entry);
    const replaced = of.some(isKnownAgain) ? undefined : before;
    const counts = plus(replaced?.counts ?? nothingErased.total, of);
    told.set(pid, { entry: yield* tell(pid, detailsOf(counts), replaced?.entry ?? null), counts });
  }
  return { total: plus(total, things), scopes: told } satisfies ErasureTally;
});

type ErasureDetails = Omit<Counts, "messages"> & Partial<Counts>;

/** Entries of scopes without a log do not name its messages. */
const detailsOf = ({ messages, ...counts }: Counts): ErasureDetails =>
  messages === 0 ? counts : { ...counts, messages };

const plus = (counts: Counts, things: ReadonlyArray<ErasedThing>): Counts => {
  const sum: { -readonly [Kind in keyof Counts]: number } = { ...counts };
  for (const { what } of things) if (what !== "events") sum[what]++;
  return sum;
};

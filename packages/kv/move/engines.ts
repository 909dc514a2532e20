/**
 * Copies every key of one engine to another that is empty, then compares the two. A copy that was interrupted goes on
 * where it stopped: keys are copied in order.
 */
import { type Moved, MoveRefused, type StoreUnavailable } from "@accountlink/core";
import { Array as Arr, Effect, Option, Stream } from "effect";
import { encode } from "../keys.ts";
import { type Change, type Entry, type Kv, maxChanges } from "../kv.ts";

/** Marks a target into which a move is under way. Its value is the root key of the source. */
const mark = encode(["moving"]);

/** The last key: a server that started before the end would otherwise take the target for whole. */
const last = encode(["root_key"]);

/** Whether a move into an engine is not finished. @internal */
export const isHalfMoved = (kv: Kv): Effect.Effect<boolean, StoreUnavailable> =>
  Effect.map(kv.get([mark, encode(["moving_rows"])]), (found) => found.some((entry) => entry !== null));

const batchSize = 500;

/** Keys are printable ASCII. */
export const allKeys = { start: "", end: "\x7f" };

/** The entries from a key on, in pages. */
const entriesFrom = (kv: Kv, start = "") =>
  Stream.paginate(start, (from: string) =>
    Effect.map(
      kv.list({ ...allKeys, start: from }, { limit: batchSize, reverse: false }),
      (page) => [page, Option.map(Arr.last(page), ({ key }) => nextOf(key))] as const,
    ),
  );

/**
 * @param show called with the number of copied keys, and with the number of keys in the source
 * @param settle runs once both are the same, before the target may be used
 * @internal
 */
export const moveKv = Effect.fnUntraced(function* <E = never>(
  source: Kv,
  target: Kv,
  show: (done: number, total: number) => Effect.Effect<void>,
  settle: Effect.Effect<void, E> = Effect.void,
): Effect.fn.Return<Moved, MoveRefused | StoreUnavailable | E> {
  const { root, version } = yield* claim(source, target);
  /** Fails once another move has taken the mark away, since servers may write to the target from then on. */
  const commit = (changes: ReadonlyArray<Change>) =>
    Effect.filterOrFail(target.commit([{ key: mark, version }], changes), Boolean, () =>
      MoveRefused.of("otherMove"),
    );
  const total = yield* source.count(allKeys);
  let done = yield* target.count(allKeys);
  const newest = (yield* target.list(allKeys, { limit: 2, reverse: true })).find(({ key }) => key !== mark);
  const copy = Effect.fnUntraced(function* (page: ReadonlyArray<Entry>) {
    const changes = page.filter(({ key }) => key !== last).map(({ key, value }) => ({ key, value }));
    for (const part of Arr.chunksOf(changes, target.maxChanges ?? maxChanges)) yield* commit(part);
    done += changes.length;
    yield* show(Math.min(done, total), total);
  });
  yield* Stream.runForEachArray(entriesFrom(source, newest && nextOf(newest.key)), copy);
  yield* commit([{ key: last, value: root }]);
  const moved = yield* compared(source, target);
  if (moved.different.length > 0) return moved;
  yield* settle;
  yield* commit([{ key: mark, value: null }]);
  return moved;
});

/** The first key that may follow this one. No key has a character before the space. */
const nextOf = (key: string): string => `${key} `;

/** Marks an empty target, or finds the mark of an earlier attempt. Returns the root key of the source. */
const claim = Effect.fnUntraced(function* (source: Kv, target: Kv) {
  const [root = null] = yield* source.get([last]);
  if (root === null) return yield* MoveRefused.of("emptySource");
  const [before = null] = yield* target.get([mark]);
  if (before === null) {
    if ((yield* target.count(allKeys)) > 0) return yield* MoveRefused.of("usedTarget");
    yield* target.commit([{ key: mark, version: null }], [{ key: mark, value: root.value }]);
  }
  const [marked = null] = yield* target.get([mark]);
  if (marked?.value !== root.value) return yield* MoveRefused.of("otherTarget");
  return { root: root.value, version: marked.version };
});

const tableOf = ({ key }: Entry): string => key.slice(0, key.indexOf(" "));

/** Counts the keys of each table. */
const countIn = (counts: Map<string, number>, page: ReadonlyArray<Entry>): void => {
  for (const entry of page) {
    if (entry.key !== mark) counts.set(tableOf(entry), (counts.get(tableOf(entry)) ?? 0) + 1);
  }
};

/** Compares every key. */
const compared = Effect.fnUntraced(function* (source: Kv, target: Kv) {
  const differing = new Set<string>();
  const [ofSource, ofTarget] = [new Map<string, number>(), new Map<string, number>()];
  yield* Stream.runForEachArray(entriesFrom(source), (page) =>
    Effect.map(target.get(page.map(({ key }) => key)), (found) => {
      countIn(ofSource, page);
      for (const [index, entry] of page.entries()) {
        if (found[index]?.value !== entry.value) differing.add(tableOf(entry));
      }
    }),
  );
  yield* Stream.runForEachArray(entriesFrom(target), (page) => Effect.sync(() => countIn(ofTarget, page)));
  for (const [name, count] of ofTarget) if (ofSource.get(name) !== count) differing.add(name);
  const different = Array.from(differing, (table) => ({
    table,
    source: ofSource.get(table) ?? 0,
    target: ofTarget.get(table) ?? 0,
  }));
  return { tables: Object.fromEntries(ofSource), different } satisfies Moved;
});

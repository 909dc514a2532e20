/**
 * How many links scopes have, and how many were verified lately. What is much is counted at most once a minute.
 */
import { Clock, Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import { LinkStore } from "../links/link_store.ts";
import { dayMs, type Millis, startOfDay } from "../timestamp.ts";

/** How old a count may be, and from when on a view has it counted anew without waiting. */
const [longest, renewed] = [60_000, 30_000];

/** So few are counted at each view, which takes a millisecond. */
const few = 2_000;

const maxScopes = 10_000;

/** The links of a scope that were last verified in the seven UTC days that end today, and in the seven before. */
export interface VerifiedWeeks {
  readonly last: number;
  readonly before: number;
}

/** Makes the functions that count the links of a scope. */
export const makeLinkCounts = Effect.gen(function* () {
  const store = yield* LinkStore;

  const countWeeks = Effect.fnUntraced(function* (pid: Pid) {
    const now = yield* Clock.currentTimeMillis;
    const end = startOfDay(now) + dayMs;
    const week = (before: Millis) => store.countLinks(pid, { from: before - 7 * dayMs, before });
    return { last: yield* week(end), before: yield* week(end - 7 * dayMs) };
  });

  const links = yield* keepCounts(
    (pid) => store.countLinks(pid),
    (count) => count,
  );
  const weeks = yield* keepCounts(countWeeks, ({ last, before }) => last + before);
  return {
    of: links.of,
    weeksOf: weeks.of,

    /** After a change by the owner, who looks for it. */
    forget: (pid: Pid) =>
      Effect.sync(() => {
        links.forget(pid);
        weeks.forget(pid);
      }),
  };
});

/** @param sizeOf how many links were counted */
const keepCounts = Effect.fnUntraced(function* <A>(
  countOf: (pid: Pid) => Effect.Effect<A, StoreUnavailable>,
  sizeOf: (count: A) => number,
) {
  const scope = yield* Effect.scope;
  const known = new Map<Pid, { readonly count: A; readonly at: Millis }>();
  const counting = new Set<Pid>();

  const count = Effect.fnUntraced(function* (pid: Pid) {
    const at = yield* Clock.currentTimeMillis;
    const counted = yield* countOf(pid);
    if (known.size >= maxScopes) known.clear();
    known.set(pid, { count: counted, at });
    return counted;
  });

  const recount = (pid: Pid) =>
    Effect.suspend(() => {
      if (counting.has(pid)) return Effect.void;
      counting.add(pid);
      const counted = Effect.ensuring(
        Effect.ignore(count(pid)),
        Effect.sync(() => counting.delete(pid)),
      );
      return Effect.asVoid(Effect.forkIn(counted, scope));
    });

  return {
    of: Effect.fnUntraced(function* (pid: Pid): Effect.fn.Return<A, StoreUnavailable> {
      const now = yield* Clock.currentTimeMillis;
      const last = known.get(pid);
      if (last === undefined || sizeOf(last.count) < few || now - last.at >= longest)
        return yield* count(pid);
      if (now - last.at >= renewed) yield* recount(pid);
      return last.count;
    }),
    forget: (pid: Pid) => void known.delete(pid),
  };
});

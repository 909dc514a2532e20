/**
 * How many links scopes have. Those with many are counted at most once a minute.
 */
import { Clock, Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import { LinkStore } from "../links/link_store.ts";
import type { Millis } from "../timestamp.ts";

/** How old a count may be, and from when on a view has it counted anew without waiting. */
const [longest, renewed] = [60_000, 30_000];

/** So few are counted at each view, which takes a millisecond. */
const few = 2_000;

const maxScopes = 10_000;

interface Count {
  readonly links: number;
  readonly at: Millis;
}

/** Makes the function that counts the links of a scope. */
export const makeLinkCounts = Effect.gen(function* () {
  const store = yield* LinkStore;
  const scope = yield* Effect.scope;
  const known = new Map<Pid, Count>();
  const counting = new Set<Pid>();

  const count = Effect.fnUntraced(function* (pid: Pid) {
    const at = yield* Clock.currentTimeMillis;
    const links = yield* store.countLinks(pid);
    if (known.size >= maxScopes) known.clear();
    known.set(pid, { links, at });
    return links;
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
    of: Effect.fnUntraced(function* (pid: Pid): Effect.fn.Return<number, StoreUnavailable> {
      const now = yield* Clock.currentTimeMillis;
      const last = known.get(pid);
      if (last === undefined || last.links < few || now - last.at >= longest) return yield* count(pid);
      if (now - last.at >= renewed) yield* recount(pid);
      return last.links;
    }),

    /** After a change by the owner, who looks for it. */
    forget: (pid: Pid) => Effect.sync(() => known.delete(pid)),
  };
});

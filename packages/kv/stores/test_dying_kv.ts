import { StoreUnavailable } from "@accountlink/core";
import { Effect } from "effect";
import { type Kv, minChanges } from "../mod.ts";

/** For tests: the smallest engine, which refuses all commits after so many, as if its process had died. */
export const dyingKv = (kv: Kv, commits: number) => {
  const left = { commits };
  const engine: Kv = {
    ...kv,
    maxChanges: minChanges,
    commit: (checks, changes) =>
      left.commits-- > 0
        ? kv.commit(checks, changes)
        : Effect.fail(new StoreUnavailable({ operation: "commit", cause: "refused" })),
  };
  return { left, engine };
};

/** Changes of a member's roles, which are stored before they are made, so that none is lost with its node. */
import { Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { BeginRoleChanges, RoleHistoryStore } from "./role_history_store.ts";

/** What became of the changes, by role: whether one was made. A role without a value was not tried. */
export type RoleOutcomes = Map<string, boolean | "unknown">;

/**
 * Stores changes, makes them, and stores what became of them. One without an answer stays: it may have been made.
 *
 * @param make notes the outcome of each change
 */
export const recordedChanges = <A, E>(
  history: RoleHistoryStore["Service"],
  changes: BeginRoleChanges,
  make: (outcomes: RoleOutcomes) => Effect.Effect<A, E>,
): Effect.Effect<A, E | StoreUnavailable> => {
  const outcomes: RoleOutcomes = new Map();
  if (changes.changes.length === 0) return make(outcomes);
  return Effect.flatMap(history.begin(changes), (begun) => {
    const ended = Effect.suspend(() =>
      history.end(
        begun.flatMap((change) => {
          const outcome = outcomes.get(change.roleId) ?? false;
          return outcome === "unknown" ? [] : [{ change, isMade: outcome }];
        }),
      ),
    );
    // What is not stored of the outcome counts as unknown.
    return Effect.ensuring(make(outcomes), Effect.ignore(ended));
  });
};

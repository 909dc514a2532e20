/** Undoes imports in the background, a part at a time. An undo whose node died continues on another one. */
import { Clock, Effect, Schedule } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import { Conflict, type StoreUnavailable } from "../errors.ts";
import { LinkCap } from "../links/link_cap.ts";
import { StorageUse } from "../storage_use.ts";
import { ImportStore, type UndoPlace, type UnfinishedUndo, undosAtOnce } from "./import_store.ts";

/** How many links an undo takes in one transaction. It rests in between, so that the process can answer requests. */
const undoneAtOnce = 1_000;

type Undo = Omit<UnfinishedUndo, "done">;

/** @param changesLeft returns how many links the imports and undos of an account may still change today */
export const makeImportUndos = Effect.fnUntraced(function* (
  changesLeft: (account: string) => Effect.Effect<number, StoreUnavailable>,
) {
  const imports = yield* ImportStore;
  const cap = yield* LinkCap;
  const scope = yield* Effect.scope;
  const { resting } = yield* StorageUse;

  /** Undoes the next links of an import. Returns whether all are undone. */
  const some = Effect.fnUntraced(function* ({ id, pid, account }: Undo, origin: WriteOrigin) {
    const at = yield* Clock.currentTimeMillis;
    const limit = Math.min(undoneAtOnce, yield* changesLeft(account));
    const { isDone } = yield* imports.undo({ ...origin, id, pid, at, limit });
    // The undo has begun, so that it goes on when the account may change links again.
    if (limit === 0) return yield* new Conflict({ reason: "import_day" });
    if (isDone) yield* cap.freed({ account });
    else yield* Effect.sleep(1 + 2 * ((yield* Clock.currentTimeMillis) - at));
    return isDone;
  });

  /** The undos that run on this node. */
  const undoing = new Set<string>();

  const rest = (one: Undo, origin: WriteOrigin) => {
    if (undoing.has(one.id)) return Effect.void;
    undoing.add(one.id);
    // A member may begin an undo while the storage rests. An undo from before the rest stops.
    const stops = resting() === null ? () => resting() !== null : () => false;
    const undo = Effect.repeat(some(one, origin), { until: (isDone) => isDone || stops() }).pipe(
      Effect.catch((error) => Effect.logWarning("The undo of an import waits", error)),
      Effect.annotateLogs({ import: one.id }),
      Effect.ensuring(Effect.sync(() => undoing.delete(one.id))),
    );
    return Effect.asVoid(Effect.forkIn(undo, scope));
  };

  /** How far the unfinished undos were, and the place after which the next look reads. */
  let undone = new Map<string, number>();
  let earlier = undone;
  let place: UndoPlace | null = null;

  /** Continues undos that made no progress since a look read them: their node died, or their storage was away. */
  const resumeUndos = Effect.gen(function* () {
    if (resting() !== null) return;
    const { undos, next } = yield* imports.unfinishedUndos(place, undosAtOnce);
    if (place === null) [earlier, undone] = [undone, new Map()];
    place = next;
    for (const one of undos) {
      undone.set(one.id, one.done);
      if (earlier.get(one.id) !== one.done || (yield* changesLeft(one.account)) === 0) continue;
      // Only the entry of the first step names the member and the request.
      const actor = { type: "account", id: one.account, member: "" } as const;
      yield* rest(one, { actor, requestId: null });
    }
  });

  yield* resumeUndos.pipe(Effect.ignore, Effect.repeat(Schedule.spaced("10 seconds")), Effect.forkIn(scope));

  return { some, rest } as const;
});

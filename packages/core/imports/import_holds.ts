import { Clock, Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import { detailsOf, type ImportJob } from "./import_job.ts";
import type { StoredImport, UploadStore } from "./upload_store.ts";

/** How long a node holds an import without renewing, in milliseconds. Another node takes it within 10 seconds. */
export const heldFor = 6_000;

/** The imports that this node holds, so that no other node works at them. */
export const importHoldsOn = (uploads: UploadStore["Service"]) => {
  const node = crypto.randomUUID();

  const holdFor = (time: number) =>
    Effect.map(Clock.currentTimeMillis, (at) => ({ node, at, until: at + time }));

  return {
    node,
    holdFor,

    /** Stores the state of an import. Returns false if this node does not hold it any more. */
    save: Effect.fnUntraced(function* (job: ImportJob, phase: StoredImport["phase"], time: number) {
      const { id, pid } = job;
      return yield* uploads.save({ id, pid, phase, details: detailsOf(job), ...(yield* holdFor(time)) });
    }),
  };
};

export type ImportHolds = ReturnType<typeof importHoldsOn>;

/** Runs a part of an import. Renews the hold each second, and continues with `lost` if another node took it. */
export const holding = <A, E, R, B, E2>(
  work: Effect.Effect<A, E, R>,
  renew: Effect.Effect<boolean, StoreUnavailable>,
  lost: Effect.Effect<B, E2>,
) => {
  // While the storage does not answer, the import waits for it too.
  const isHeld = Effect.delay(
    Effect.orElseSucceed(renew, () => true),
    "1 second",
  );
  return Effect.raceFirst(work, Effect.andThen(Effect.repeat(isHeld, { while: Boolean }), lost));
};

/**
 * Imports of uploaded files. An account has at most one import at a time. Files and progress are in the storage, so
 * every node shows an import, and another node continues the import of a dead node.
 */

import { Cause, Clock, Effect, Option, Ref, Schedule } from "effect";
import { type KeyOwner, originOf, reaches } from "../keys/owned_keys.ts";
import { StorageUse, storageNow } from "../storage_use.ts";
import { makeImportAdmission } from "./import_admission.ts";
import { importFilesOn } from "./import_files.ts";
import { heldFor, holding, importHoldsOn } from "./import_holds.ts";
import { begun, type ImportJob, jobOf } from "./import_job.ts";
import type { ImportOutcome } from "./import_outcome.ts";
import { makeImportRuns } from "./import_run.ts";
import type { ImportFailure, ImportState } from "./import_state.ts";
import { ImportStore, type UndoableImport } from "./import_store.ts";
import { makeImportUndos } from "./import_undos.ts";
import type { ImportProgress } from "./link_import.ts";
import { isLeftToUndo, makeUndoPreview } from "./undo_preview.ts";
import { UploadStore } from "./upload_store.ts";

/** How long after its first failure an import still waits for its storage, however much it stores meanwhile. */
const whileAway = Schedule.spaced("5 seconds").pipe(Schedule.upTo({ duration: "1 hour" }));

/** @internal */
export const makeImportJobs = Effect.gen(function* () {
  const [imports, uploads] = [yield* ImportStore, yield* UploadStore];
  const { resting } = yield* StorageUse;
  const scope = yield* Effect.scope;
  const holds = importHoldsOn(uploads);
  const { holdFor, save } = holds;
  const runs = yield* makeImportRuns(holds.node);

  /** Imports a file that this node holds. Continues where a dead node has stopped. */
  const work = Effect.fnUntraced(function* (job: ImportJob) {
    const state = yield* Ref.make<ImportJob>(job);
    const onProgress = (progress: ImportProgress) =>
      Ref.set(state, { ...job, state: { _tag: "Running", progress } });
    const renew = Effect.flatMap(Ref.get(state), (now) => save(now, "running", heldFor));
    const ended = runs.run(job, false, { onProgress }).pipe(
      Effect.flatMap((outcome) => withCounts(job, outcome)),
      // Each run continues after the last stored batch.
      Effect.retry({ schedule: whileAway, while: ({ _tag }) => _tag === "StoreUnavailable" }),
      Effect.catchTag("ImportRefused", ({ reason }) => Effect.succeed(failed(reason))),
      Effect.catchCauseIf(
        (cause) => !Cause.hasInterruptsOnly(cause),
        (cause) => Effect.as(Effect.logError("Import of an upload failed", cause), failed("storage")),
      ),
    );
    yield* holding(ended, renew, Effect.interrupt).pipe(
      Effect.flatMap((result) =>
        Effect.retry(save({ ...job, state: result }, "over", 0), {
          schedule: Schedule.spaced("1 second"),
          times: 60,
        }),
      ),
      // A server shutdown interrupts the import, and another node takes it at once.
      Effect.onInterrupt(() =>
        Effect.ignore(Effect.flatMap(Ref.get(state), (now) => save(now, "running", 0))),
      ),
      Effect.ignore,
    );
  });

  /** The outcome of a whole import, of which several nodes may have stored parts. */
  const withCounts = Effect.fnUntraced(function* ({ account }: ImportJob, outcome: ImportOutcome) {
    const stored = yield* uploads.find(account, yield* Clock.currentTimeMillis);
    const done: ImportState = {
      _tag: "Done",
      outcome: { ...outcome, ...Option.getOrUndefined(stored)?.counts },
    };
    return done;
  });

  const fork = (job: ImportJob) => Effect.asVoid(Effect.forkIn(work(job), scope));

  yield* Effect.gen(function* () {
    const taken = resting() === null ? yield* uploads.take(yield* holdFor(heldFor)) : Option.none();
    yield* Effect.forEach(Option.toArray(Option.flatMap(taken, jobOf)), fork);
  }).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("2 seconds")), Effect.forkIn(scope));

  yield* Effect.flatMap(storageNow, (at) => Effect.andThen(uploads.sweep(at), imports.sweep(at))).pipe(
    Effect.ignore,
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.forkIn(scope),
  );

  const undos = yield* makeImportUndos(runs.changesLeft);

  return {
    admit: yield* makeImportAdmission(holds, runs),
    read: importFilesOn(uploads).read,

    /** Starts an import, at most once. It continues when who started it leaves the page. */
    start: Effect.fnUntraced(function* (job: ImportJob, owner: KeyOwner) {
      const { id } = job;
      if (!(yield* uploads.start({ id, ...(yield* holdFor(heldFor)) }))) return;
      const running: ImportJob = { ...job, origin: originOf(owner), state: begun };
      if (yield* save(running, "running", heldFor)) yield* fork(running);
    }, Effect.uninterruptible),

    find: Effect.fnUntraced(function* (id: string, owner: KeyOwner) {
      const found = yield* uploads.find(owner.account.name, yield* Clock.currentTimeMillis);
      return Option.getOrUndefined(
        found.pipe(
          Option.filter((one) => one.id === id),
          Option.flatMap(jobOf),
          Option.filter(({ pid }) => reaches(owner, pid)),
        ),
      );
    }),

    /**
     * Returns the imports that can be undone, newest first. While an import runs, no undo of its list begins: it would take
     * back links that the import finds unchanged.
     */
    undoable: Effect.fnUntraced(function* (owner: KeyOwner) {
      const { account } = owner;
      const at = yield* Clock.currentTimeMillis;
      const upload = Option.getOrUndefined(yield* uploads.find(account.name, at));
      const running = upload?.phase === "running" ? upload.pid : null;
      const listed = yield* imports.listUndoable(account.name, at);
      return listed.filter(({ pid, undone }) => (pid !== running || undone !== null) && reaches(owner, pid));
    }),

    previewUndo: yield* makeUndoPreview,

    /** How many links the imports of an account, and their undos, may still change today. */
    changesLeft: ({ account }: KeyOwner) => runs.changesLeft(account.name),

    /** Whether an undo would take back a link of an import, or give it to a later one. */
    isLeftToUndo: ({ id }: UndoableImport) => isLeftToUndo(imports, id),

    /**
     * Undoes an import. The first links are done when this returns, the others in the background, also after the node
     * dies: another one continues within 20 seconds. If the account's imports have changed as many links as they may in a
     * day, fails with `Conflict` `import_day`, and the undo goes on when they may change links again.
     */
    undo: Effect.fnUntraced(function* (owner: KeyOwner, { id, pid }: Pick<UndoableImport, "id" | "pid">) {
      const one = { id, pid, account: owner.account.name };
      const origin = originOf(owner);
      if (!(yield* undos.some(one, origin))) yield* undos.rest(one, origin);
    }),

    /** Removes an import, unless it is running. */
    forget: ({ id }: ImportJob) => uploads.remove(id),
  } as const;
});

const failed = (reason: ImportFailure): ImportState => ({ _tag: "Failed", reason });

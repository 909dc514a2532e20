/** Imports of uploaded files. They are known to the process that took the upload, for half an hour. */

import { type KeyOwner, originOf } from "@accountlink/core/keys";
import {
  type ConflictChoice,
  type ImportOutcome,
  type ImportProgress,
  importLinks,
  type LeftOutLine,
  type LinkLine,
  LinkStore,
  leftOutHeader,
  leftOutRow,
  linkReaders,
  type ReadOptions,
} from "@accountlink/core/links";
import type { UploadedFile, UploadFolder } from "@accountlink/http/site";
import { Cause, Clock, Effect, Semaphore, Stream } from "effect";
import { Digest } from "effect/crypto";
import type { Community } from "../communities/community.ts";

/** How long an import is kept, in milliseconds. */
const keptFor = 30 * 60_000;

/** How many files are read at the same time; others wait. */
const filesAtOnce = 2;

const shownRows = 10;

const encoder = new TextEncoder();

type ImportState =
  | { readonly _tag: "Preview"; readonly outcome: ImportOutcome; readonly sample: ReadonlyArray<LinkLine> }
  | { readonly _tag: "Running"; readonly progress: ImportProgress }
  | { readonly _tag: "Done"; readonly outcome: ImportOutcome }
  | { readonly _tag: "Failed"; readonly reason: string };

export interface ImportJob {
  readonly id: string;
  readonly owner: KeyOwner;
  readonly community: Community;
  readonly fileName: string;
  readonly file: UploadedFile;
  readonly onConflict: ConflictChoice;
  readonly options: ReadOptions;
  readonly madeAt: number;
  /** The rows that were left out last; null as long as none were looked for. */
  leftOut: UploadedFile | null;
  state: ImportState;
}

type NewJob = Pick<ImportJob, "owner" | "community" | "fileName" | "file" | "onConflict" | "options">;

export const makeImportJobs = Effect.fnUntraced(function* (folder: UploadFolder) {
  const store = yield* LinkStore;
  const scope = yield* Effect.scope;
  const jobs = new Map<string, ImportJob>();
  const turns = yield* Semaphore.make(filesAtOnce);

  const forget = (job: ImportJob) =>
    Effect.andThen(
      Effect.sync(() => jobs.delete(job.id)),
      Effect.andThen(job.file.remove, job.leftOut?.remove ?? Effect.void),
    );

  /** Forgets what is too old, and what the account has uploaded before. */
  const forgetBefore = Effect.fnUntraced(function* (now: number, { account }: KeyOwner) {
    const old = [...jobs.values()].filter(
      ({ madeAt, owner, state }) =>
        state._tag !== "Running" && (madeAt < now - keptFor || owner.account.name === account.name),
    );
    yield* Effect.forEach(old, forget, { discard: true });
  });

  /** Reads the whole file, and keeps the rows that it leaves out. */
  const run = Effect.fnUntraced(function* (
    { file, community, owner, options, onConflict, ...job }: NewJob & Pick<ImportJob, "leftOut">,
    dryRun: boolean,
    onProgress: (progress: ImportProgress) => void,
  ) {
    const leftOut = yield* folder.create;
    const add = (text: string) => leftOut.append(encoder.encode(text));
    const outcome = yield* Effect.gen(function* () {
      yield* add(leftOutHeader);
      return yield* importLinks(
        { lines: linkReaders.auto(file.read, options), isRepeatable: true },
        {
          findScope: Effect.succeed(community.scope.pid),
          origin: originOf(owner),
        },
        { dryRun, onConflict },
        {
          onProgress: (progress) => Effect.sync(() => onProgress(progress)),
          onLeftOut: (rows: ReadonlyArray<LeftOutLine>) =>
            rows.length === 0 ? Effect.void : add(rows.map(leftOutRow).join("")),
        },
      );
    }).pipe(
      Effect.provideService(LinkStore, store),
      Effect.provide(Digest.layerWebCrypto),
      Effect.onError(() => leftOut.remove),
    );
    // A file that was imported before is not read again.
    if (outcome.doneBefore) {
      yield* leftOut.remove;
      return { outcome, leftOut: job.leftOut };
    }
    if (job.leftOut !== null) yield* job.leftOut.remove;
    return { outcome, leftOut };
  });

  /** Looks at a file, and keeps it for its import. */
  const preview = Effect.fnUntraced(function* (made: NewJob) {
    const now = yield* Clock.currentTimeMillis;
    yield* forgetBefore(now, made.owner);
    const sample = yield* linkReaders
      .auto(made.file.read, made.options)
      .pipe(Stream.take(shownRows), Stream.runCollect);
    const { outcome, leftOut } = yield* turns.withPermits(1)(run({ ...made, leftOut: null }, true, () => {}));
    const id = crypto.randomUUID();
    const job: ImportJob = { ...made, id, madeAt: now, leftOut, state: { _tag: "Preview", outcome, sample } };
    jobs.set(id, job);
    return job;
  });

  /** Starts an import, once. It goes on when its owner leaves. */
  const start = Effect.fnUntraced(function* (job: ImportJob) {
    if (job.state._tag !== "Preview") return;
    job.state = { _tag: "Running", progress: { phase: "checking", rows: 0, total: null } };
    const onProgress = (progress: ImportProgress) => {
      job.state = { _tag: "Running", progress };
    };
    yield* turns
      .withPermits(1)(run(job, false, onProgress))
      .pipe(
        Effect.matchCauseEffect({
          onSuccess: ({ outcome, leftOut }) =>
            Effect.sync(() => {
              job.leftOut = leftOut;
              job.state = { _tag: "Done", outcome };
            }),
          onFailure: (cause) =>
            Effect.andThen(
              Effect.sync(() => {
                job.state = { _tag: "Failed", reason: "The storage did not answer." };
              }),
              Cause.hasInterruptsOnly(cause)
                ? Effect.void
                : Effect.logError("Import of an upload failed", cause),
            ),
        }),
        // The end of the server ends it, too; what was stored stays.
        Effect.forkIn(scope),
      );
  });

  const find = (id: string, owner: KeyOwner): ImportJob | undefined => {
    const job = jobs.get(id);
    return job?.owner.account.name === owner.account.name ? job : undefined;
  };

  return { preview, start, find, forget } as const;
});

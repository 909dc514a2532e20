/**
 * Imports of uploaded files. An account has at most one import at a time. Only the process that received the upload
 * knows the import, and forgets it after half an hour.
 */
import type { StoreUnavailable } from "@accountlink/core/errors";
import { type KeyOwner, originOf } from "@accountlink/core/keys";
import {
  boundedLeftOut,
  type ConflictChoice,
  type ImportOutcome,
  type ImportProgress,
  importLinks,
  LinkCap,
  type LinkChange,
  type LinkLine,
  LinkStore,
  leftOutHeader,
  linkReaders,
  type ReadOptions,
} from "@accountlink/core/links";
import type { UploadFolder } from "@accountlink/http/for_pages";
import { Cause, Clock, Effect, Schedule, Semaphore, Stream } from "effect";
import { Digest } from "effect/crypto";
import type { Community } from "../communities/community.ts";
import { type BoundedFile, boundedUploads, WrongUpload } from "./import_upload.ts";

/** How long an import is stored, in milliseconds. */
const keptFor = 30 * 60_000;

const shownRows = 10;

const shownChanges = 20;

/** The maximum number of changed links in the CSV file of an import. */
const mostChanges = 10_000;

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
  readonly file: BoundedFile;
  readonly onConflict: ConflictChoice;
  readonly options: ReadOptions;
  readonly madeAt: number;
  readonly changed: ChangedLinks;
  /** The rows that the last run skipped; null before the first run. */
  leftOut: BoundedFile | null;
  state: ImportState;
}

/** The changed links of an import: their number, the first few, and a CSV file with up to 10,000. */
export interface ChangedLinks {
  readonly count: number;
  readonly first: ReadonlyArray<LinkChange>;
  readonly file: BoundedFile;
}

type NewJob = Pick<ImportJob, "owner" | "community" | "fileName" | "file" | "onConflict" | "options">;

export const makeImportJobs = Effect.fnUntraced(function* (folder: UploadFolder) {
  const store = yield* LinkStore;
  const cap = yield* LinkCap;
  const scope = yield* Effect.scope;
  const jobs = new Map<string, ImportJob>();
  /** Accounts whose upload is being read. */
  const reading = new Set<string>();

  const forget = (job: ImportJob) =>
    Effect.suspend(() => {
      if (jobs.get(job.owner.account.name) === job) jobs.delete(job.owner.account.name);
      return Effect.all([job.file.remove, job.changed.file.remove, job.leftOut?.remove ?? Effect.void]);
    });

  /** The jobs that are not running, oldest first. If an upload needs room, the oldest is removed. */
  const idle = () => [...jobs.values()].filter(({ state }) => state._tag !== "Running");

  const uploads = boundedUploads(
    folder,
    Effect.suspend(() => {
      const [oldest] = idle();
      return oldest === undefined ? Effect.succeed(false) : Effect.as(forget(oldest), true);
    }),
  );

  yield* Effect.gen(function* () {
    const before = (yield* Clock.currentTimeMillis) - keptFor;
    yield* Effect.forEach(
      idle().filter(({ madeAt }) => madeAt <= before),
      forget,
      { discard: true },
    );
  }).pipe(Effect.repeat(Schedule.spaced("1 minute")), Effect.forkIn(scope));

  /** Runs an upload in place of the previous import. Fails while another one of the account is running. */
  const admit = <A, E, R>(
    { account }: KeyOwner,
    upload: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | WrongUpload, R> =>
    Effect.suspend((): Effect.Effect<A, E | WrongUpload, R> => {
      const before = jobs.get(account.name);
      if (reading.has(account.name) || before?.state._tag === "Running") {
        return Effect.fail(new WrongUpload({ reason: busy }));
      }
      reading.add(account.name);
      return Effect.andThen(before === undefined ? Effect.void : forget(before), upload).pipe(
        Effect.ensuring(Effect.sync(() => reading.delete(account.name))),
      );
    });

  const turn = (yield* Semaphore.make(1)).withPermits(1)(Effect.sleep(1));

  /**
   * Reads a file chunk by chunk. For each chunk it sleeps a millisecond, so that the process can answer requests.
   * Concurrent reads sleep in turn, so together they get at most one chunk per millisecond.
   */
  const linesOf = ({ file, options }: Pick<NewJob, "file" | "options">) =>
    linkReaders.auto(
      Stream.tap(file.read, () => turn),
      options,
    );

  /** Imports the whole file, or only previews it in a dry run. Stores the skipped rows in another file. */
  const run = Effect.fnUntraced(function* (
    { file, community, owner, options, onConflict, ...job }: NewJob & Pick<ImportJob, "leftOut">,
    dryRun: boolean,
    onProgress: (progress: ImportProgress) => void,
    onChanged: (changes: ReadonlyArray<LinkChange>) => Effect.Effect<void, WrongUpload | StoreUnavailable>,
  ) {
    const leftOut = yield* uploads.createFinished;
    const add = (text: string) => (text === "" ? Effect.void : leftOut.append(encoder.encode(text)));
    const bounded = boundedLeftOut();
    const unreadColumns = new Set<string>();
    const outcome = yield* Effect.gen(function* () {
      yield* add(leftOutHeader);
      const imported = yield* importLinks(
        {
          lines: linesOf({ file, options: { ...options, unreadColumns } }),
          isRepeatable: true,
          unreadColumns,
        },
        {
          findScope: Effect.succeed(community.scope.pid),
          origin: originOf(owner),
          room: cap.roomOf(community.scope),
        },
        { dryRun, onConflict, givesWay: true },
        {
          onProgress: (progress) => Effect.sync(() => onProgress(progress)),
          onLeftOut: (rows) => add(bounded.add(rows)),
          onChanged,
        },
      );
      yield* add(bounded.end());
      return imported;
    }).pipe(
      Effect.provideService(LinkStore, store),
      Effect.provide(Digest.layerWebCrypto),
      Effect.onError(() => leftOut.remove),
    );
    if (job.leftOut !== null) yield* job.leftOut.remove;
    return { outcome, leftOut };
  });

  const collectChanges = Effect.gen(function* () {
    const file = yield* uploads.createFinished;
    const first: Array<LinkChange> = [];
    let count = 0;
    const write = (text: string) => (text === "" ? Effect.void : file.append(encoder.encode(text)));
    yield* write("chatId,previousGameId,gameId\r\n");
    return {
      file,
      first,
      count: () => count,
      add: (changes: ReadonlyArray<LinkChange>) => {
        const stored = changes.slice(0, Math.max(0, mostChanges - count));
        first.push(...changes.slice(0, shownChanges - first.length));
        count += changes.length;
        return write(
          stored
            .map(({ chatId, previousGameId, gameId }) => `${chatId},${previousGameId ?? ""},${gameId}\r\n`)
            .join(""),
        );
      },
    };
  });

  /** Previews a whole upload, and stores it for its import. */
  const preview = Effect.fnUntraced(function* (made: NewJob) {
    yield* made.file.finish;
    const sample = yield* linesOf(made).pipe(Stream.take(shownRows), Stream.runCollect);
    const changes = yield* collectChanges;
    const { outcome, leftOut } = yield* run({ ...made, leftOut: null }, true, () => {}, changes.add).pipe(
      Effect.onError(() => changes.file.remove),
    );
    const job: ImportJob = {
      ...made,
      id: crypto.randomUUID(),
      madeAt: yield* Clock.currentTimeMillis,
      changed: { count: changes.count(), first: changes.first, file: changes.file },
      leftOut,
      state: { _tag: "Preview", outcome, sample },
    };
    jobs.set(made.owner.account.name, job);
    return job;
  });

  /** Starts an import, at most once. It continues when its owner leaves the page. */
  const start = Effect.fnUntraced(function* (job: ImportJob) {
    if (job.state._tag !== "Preview") return;
    job.state = { _tag: "Running", progress: { phase: "checking", rows: 0, total: null } };
    const onProgress = (progress: ImportProgress) => {
      job.state = { _tag: "Running", progress };
    };
    yield* run(job, false, onProgress, () => Effect.void).pipe(
      Effect.map(({ outcome, leftOut }): ImportState => {
        job.leftOut = leftOut;
        return { _tag: "Done", outcome };
      }),
      Effect.catchTag("WrongUpload", ({ reason }) => Effect.succeed(failed(reason))),
      Effect.catchCause((cause) =>
        Effect.as(
          Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("Import of an upload failed", cause),
          failed("The storage did not answer."),
        ),
      ),
      Effect.map((state) => {
        job.state = state;
      }),
      Effect.ensuring(job.file.remove),
      // A server shutdown interrupts the import; imported rows remain.
      Effect.forkIn(scope),
    );
  });

  const find = (id: string, owner: KeyOwner): ImportJob | undefined => {
    const job = jobs.get(owner.account.name);
    return job?.id === id ? job : undefined;
  };

  return { uploads, admit, preview, start, find, forget } as const;
});

const failed = (reason: string): ImportState => ({ _tag: "Failed", reason });

const busy = "Another file of your account is being imported. Wait until it is done.";

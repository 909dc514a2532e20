/**
 * Imports of uploaded files. An account has at most one import at a time. Files and progress are in the storage, so
 * every node shows an import, and another node continues the import of a dead node.
 */

import { Cause, Clock, Effect, Option, Ref, Schedule, Stream } from "effect";
import { Digest } from "effect/crypto";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import { type KeyOwner, originOf, reaches } from "../keys/owned_keys.ts";
import { LinkCap } from "../links/link_cap.ts";
import { Secrets } from "../secrets/secrets.ts";
import { StorageUse } from "../storage_use.ts";
import { TurnAccount, Turns } from "../turns/mod.ts";
import type { ReadOptions } from "./formats/link_format.ts";
import { linkReaders } from "./formats/link_formats.ts";
import type { ConflictChoice, LinkChange } from "./import_batch.ts";
import { type ImportFile, ImportRefused, importFilesOn, removed } from "./import_files.ts";
import { boundedLeftOut, type ImportOutcome, leftOutHeader } from "./import_outcome.ts";
import type { ImportFailure, ImportState } from "./import_state.ts";
import { changesOfPlan, type ImportHolder, ImportStore, type UndoableImport } from "./import_store.ts";
import { makeImportUndos } from "./import_undos.ts";
import { type ImportObserver, type ImportPorts, type ImportProgress, importLinks } from "./link_import.ts";
import { makeUndoPreview } from "./undo_preview.ts";
import { type StoredImport, UploadStore } from "./upload_store.ts";

/** The most bytes in the files of all imports. Beyond them, uploads remove the oldest imports that are not running. */
const room = 1_000_000_000;

/** How long a node holds an import without renewing, in milliseconds. Another node takes it within 10 seconds. */
const heldFor = 6_000;

/** How many rows of a file are read to see whose it is. */
const sampledRows = 300;

/** How many rows of a file and changes of an import a page shows, and how many changes its CSV file has. */
const [shownRows, shownChanges, mostChanges] = [10, 20, 10_000];

const encoder = new TextEncoder();

/** What is stored of an import as JSON. */
interface Details {
  readonly origin: WriteOrigin;
  readonly fileName: string;
  readonly onConflict: ConflictChoice;
  readonly options: ReadOptions;
  readonly changed: ChangedLinks;
  /** The number of rows; left out of imports from before it was stored. */
  readonly rows?: number;
  readonly state: ImportState;
}

export interface ImportJob extends Details {
  readonly id: string;
  readonly account: string;
  readonly pid: Pid;
}

/** The changed links of an import: their number, and the first few. Up to 10,000 are in its file `changed`. */
export interface ChangedLinks {
  readonly count: number;
  readonly first: ReadonlyArray<LinkChange>;
}

export type NewImport = Pick<ImportJob, "pid" | "onConflict" | "options" | "fileName">;

/** @internal */
export const makeImportJobs = Effect.gen(function* () {
  const { blockHash } = yield* Secrets;
  const chatHash = (pid: Pid, chatId: ChatId) => blockHash(pid, { chatId, gameId: null });
  const stores = yield* Effect.context<ImportPorts>();
  const [imports, uploads] = [yield* ImportStore, yield* UploadStore];
  const cap = yield* LinkCap;
  const { resting } = yield* StorageUse;
  const scope = yield* Effect.scope;
  const node = crypto.randomUUID();
  const { read, write } = importFilesOn(uploads);

  /** How many links the imports of an account, and their undos, may still change today. */
  const changesLeft = Effect.fnUntraced(function* (account: string) {
    const most = changesOfPlan * (yield* cap.planOf(account));
    const changed = yield* imports.countChanges(account, yield* Clock.currentTimeMillis);
    return Math.max(0, most - changed);
  });

  const holdFor = (time: number) =>
    Effect.map(Clock.currentTimeMillis, (at) => ({ node, at, until: at + time }));

  /** Stores the state of an import. Returns false if this node does not hold it any more. */
  const save = Effect.fnUntraced(function* (job: ImportJob, phase: StoredImport["phase"], time: number) {
    const { id, account: _, pid, ...details } = job;
    return yield* uploads.save({
      id,
      pid,
      phase,
      details: JSON.stringify(details),
      ...(yield* holdFor(time)),
    });
  });

  const turns = new Turns({ resource: "import_files", places: 1 });

  /**
   * Reads a file chunk by chunk. For each chunk it sleeps a millisecond, so that the process can answer requests.
   * Accounts take turns at that, so all reads together get at most one chunk per millisecond.
   */
  const linesOf = ({ id }: ImportHolder, account: string, options: ReadOptions) =>
    linkReaders.auto(
      Stream.tap(read(id, "upload"), () => turns.step(account, Effect.sleep(1))),
      { ...options, isRepeatable: true },
    );

  /** Imports the whole file, or only previews it in a dry run. Stores the skipped rows in another file. */
  const run = Effect.fnUntraced(function* (
    job: Pick<
      ImportJob,
      "id" | "account" | "pid" | "origin" | "options" | "onConflict" | "fileName" | "rows"
    >,
    dryRun: boolean,
    observer: Pick<ImportObserver<ImportRefused | StoreUnavailable>, "onProgress" | "onChanged">,
  ) {
    const { id, pid, account, origin, options, onConflict, fileName, rows } = job;
    const file = { id, name: fileName, isUndoable: true };
    const holder = { id, node };
    const leftOut = write(holder, "left_out");
    const add = (text: string) => leftOut.append(encoder.encode(text));
    const bounded = boundedLeftOut();
    const unreadColumns = new Set<string>();
    yield* add(leftOutHeader);
    const outcome = yield* importLinks(
      {
        lines: linesOf(holder, account, { ...options, unreadColumns }),
        isRepeatable: true,
        known: rows === undefined ? undefined : { name: `upload:${id}`, rows },
        unreadColumns,
      },
      {
        findScope: Effect.succeed(pid),
        origin,
        file,
        holder,
        room: cap.roomOf({ account }),
        changesLeft: changesLeft(account),
        chatHash,
      },
      { dryRun, onConflict, givesWay: true },
      { ...observer, onLeftOut: (some) => add(bounded.add(some)) },
    ).pipe(
      Effect.catchTag("ImportEnded", () => Effect.interrupt),
      Effect.provideContext(stores),
      Effect.provide(Digest.layerWebCrypto),
      Effect.provideService(TurnAccount, account),
    );
    yield* add(bounded.end());
    yield* leftOut.end;
    return outcome;
  });

  const collectChanges = (holder: ImportHolder) => {
    const file = write(holder, "changed");
    const first: Array<LinkChange> = [];
    let count = 0;
    const add = (text: string) => file.append(encoder.encode(text));
    return {
      begin: add("chatId,previousGameId,gameId\r\n"),
      add: (changes: ReadonlyArray<LinkChange>) => {
        const stored = changes.slice(0, Math.max(0, mostChanges - count));
        first.push(...changes.slice(0, shownChanges - first.length));
        count += changes.length;
        return add(
          stored
            .map(({ chatId, previousGameId, gameId }) => `${chatId},${previousGameId ?? ""},${gameId}\r\n`)
            .join(""),
        );
      },
      end: Effect.map(file.end, (): ChangedLinks => ({ count, first })),
    };
  };

  /** The accounts whose uploads this node reads. To refuse further ones, it need not ask the storage. */
  const reading = new Set<string>();

  /**
   * Reads an upload, previews all of it, and stores it in place of the account's previous import. Fails while another one
   * of the account is read or running.
   *
   * @param receive writes the uploaded file, and returns how to read it
   */
  const admit = <E, R>(owner: KeyOwner, receive: (file: ImportFile) => Effect.Effect<NewImport, E, R>) =>
    Effect.suspend(() => {
      const account = owner.account.name;
      if (reading.has(account)) return Effect.fail(new ImportRefused({ reason: "busy" }));
      reading.add(account);
      return Effect.ensuring(
        readUpload(owner, receive),
        Effect.sync(() => reading.delete(account)),
      );
    });

  const readUpload = Effect.fnUntraced(function* <E, R>(
    owner: KeyOwner,
    receive: (file: ImportFile) => Effect.Effect<NewImport, E, R>,
  ) {
    const id = crypto.randomUUID();
    const account = owner.account.name;
    const previous = Option.getOrNull(yield* uploads.find(account, yield* Clock.currentTimeMillis));
    // A member of some communities must not drop what waits for another.
    const isOthers = previous !== null && previous.pid !== null && !reaches(owner, previous.pid);
    if (isOthers && previous.phase !== "over") return yield* new ImportRefused({ reason: "busy" });
    const begun = yield* uploads.begin({ id, account, room, ...(yield* holdFor(heldFor)) });
    if (!begun) return yield* new ImportRefused({ reason: "busy" });
    const holder = { id, node };
    const held = { id, pid: null, phase: "reading", details: "" } as const;
    const renew = Effect.flatMap(holdFor(heldFor), (hold) => uploads.save({ ...held, ...hold }));
    const preview = Effect.gen(function* () {
      const file = write(holder, "upload");
      const made = yield* receive(file);
      yield* file.end;
      const first = yield* linesOf(holder, account, made.options).pipe(
        Stream.take(sampledRows),
        Stream.runCollect,
      );
      const sample = first.slice(0, shownRows);
      const chatIds = [...new Set(first.flatMap((row) => ("link" in row ? row.link.chatId : [])))];
      const changes = collectChanges(holder);
      yield* changes.begin;
      const job = { ...made, id, account, origin: originOf(owner) };
      let rows = 0;
      const onProgress = (progress: ImportProgress) => Effect.sync(() => (rows = progress.rows));
      const outcome = yield* run(job, true, { onChanged: changes.add, onProgress });
      const changed = yield* changes.end;
      return {
        ...job,
        changed,
        rows,
        state: { _tag: "Preview", outcome, sample, chatIds },
      } satisfies ImportJob;
    });
    return yield* holding(preview, renew, removed).pipe(
      Effect.tap((job) =>
        Effect.flatMap(save(job, "ready", 0), (isHeld) => (isHeld ? Effect.void : removed)),
      ),
      Effect.onError(() => Effect.ignore(uploads.remove(id))),
    );
  });

  /** Imports a file that this node holds. Continues where a dead node has stopped. */
  const work = Effect.fnUntraced(function* (job: ImportJob) {
    const state = yield* Ref.make<ImportJob>(job);
    const onProgress = (progress: ImportProgress) =>
      Ref.set(state, { ...job, state: { _tag: "Running", progress } });
    const renew = Effect.flatMap(Ref.get(state), (now) => save(now, "running", heldFor));
    const ended = run(job, false, { onProgress }).pipe(
      Effect.flatMap((outcome) => withCounts(job, outcome)),
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

  yield* Effect.flatMap(Clock.currentTimeMillis, (at) =>
    Effect.andThen(uploads.sweep(at), imports.sweep(at)),
  ).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("1 minute")), Effect.forkIn(scope));

  const undos = yield* makeImportUndos(changesLeft);

  return {
    admit,
    read,

    /** Starts an import, at most once. It continues when its owner leaves the page. */
    start: Effect.fnUntraced(function* (job: ImportJob) {
      const { id } = job;
      if (!(yield* uploads.start({ id, ...(yield* holdFor(heldFor)) }))) return;
      const running: ImportJob = { ...job, state: begun };
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

    /** Returns the imports that can be undone, newest first, without one that is running. */
    undoable: Effect.fnUntraced(function* (owner: KeyOwner) {
      const { account } = owner;
      const at = yield* Clock.currentTimeMillis;
      const running = Option.filter(
        yield* uploads.find(account.name, at),
        ({ phase }) => phase === "running",
      );
      const listed = yield* imports.listUndoable(account.name, at);
      return listed.filter(({ id, pid }) => id !== Option.getOrUndefined(running)?.id && reaches(owner, pid));
    }),

    previewUndo: yield* makeUndoPreview,

    /**
     * Undoes an import. The first links are done when this returns, the others in the background, also after the node
     * dies: another one continues within 20 seconds. Fails with `Conflict` `import_day` if the account's imports have changed as many links as they may in a day.
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

/** Runs a part of an import. Renews the hold each second, and continues with `lost` if another node took it. */
const holding = <A, E, R, B, E2>(
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

const begun: ImportState = { _tag: "Running", progress: { phase: "checking", rows: 0, total: null } };

/** None while the file is read. */
const jobOf = ({ id, account, pid, phase, details }: StoredImport): Option.Option<ImportJob> => {
  if (pid === null) return Option.none();
  const job: ImportJob = { ...(JSON.parse(details) as Details), id, account, pid };
  // A node may have died after the start, and before it stored the first progress.
  return Option.some(phase === "running" && job.state._tag === "Preview" ? { ...job, state: begun } : job);
};

const failed = (reason: ImportFailure): ImportState => ({ _tag: "Failed", reason });

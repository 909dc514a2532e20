import { Clock, Effect, Option, Stream } from "effect";
import { type KeyOwner, originOf, reaches } from "../keys/owned_keys.ts";
import { collectChanges } from "./changed_links.ts";
import { type ImportFile, ImportRefused, importFilesOn, removed } from "./import_files.ts";
import { heldFor, holding, type ImportHolds } from "./import_holds.ts";
import type { ImportJob, NewImport } from "./import_job.ts";
import type { ImportRuns } from "./import_run.ts";
import type { ImportProgress } from "./link_import.ts";
import { UploadStore } from "./upload_store.ts";

/** The most bytes in the files of all imports. Beyond them, uploads remove the largest imports that are not running. */
const room = 1_000_000_000;

/** How many rows of a file are read to see whose it is, and how many a page shows. */
const [sampledRows, shownRows] = [300, 10];

/** Receives uploaded files, and previews them. */
export const makeImportAdmission = Effect.fnUntraced(function* (holds: ImportHolds, runs: ImportRuns) {
  const uploads = yield* UploadStore;
  const { write } = importFilesOn(uploads);
  const { node, holdFor, save } = holds;

  /** Stores the received file of an import that this node holds, and previews all of it. */
  const preview = Effect.fnUntraced(function* <E, R>(
    id: string,
    owner: KeyOwner,
    receive: (file: ImportFile) => Effect.Effect<NewImport, E, R>,
  ) {
    const account = owner.account.name;
    const file = write({ id, node }, "upload");
    const made = yield* receive(file);
    yield* file.end;
    const first = yield* Stream.runCollect(Stream.take(runs.linesOf(id, account, made.options), sampledRows));
    const sample = first.slice(0, shownRows);
    const chatIds = [...new Set(first.flatMap((row) => ("link" in row ? row.link.chatId : [])))];
    const changes = collectChanges(write({ id, node }, "changed"));
    yield* changes.begin;
    const job = { ...made, id, account, origin: originOf(owner) };
    let rows = 0;
    const onProgress = (progress: ImportProgress) => Effect.sync(() => (rows = progress.rows));
    const outcome = yield* runs.run(job, true, { onChanged: changes.add, onProgress });
    const state = { _tag: "Preview", outcome, sample, chatIds } as const;
    return { ...job, changed: yield* changes.end, rows, state } satisfies ImportJob;
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
    const held = { id, pid: null, phase: "reading", details: "" } as const;
    const renew = Effect.flatMap(holdFor(heldFor), (hold) => uploads.save({ ...held, ...hold }));
    return yield* holding(preview(id, owner, receive), renew, removed).pipe(
      Effect.tap((job) =>
        Effect.flatMap(save(job, "ready", 0), (isHeld) => (isHeld ? Effect.void : removed)),
      ),
      Effect.onError(() => Effect.ignore(uploads.remove(id))),
    );
  });

  /** The accounts whose uploads this node reads. To refuse further ones, it need not ask the storage. */
  const reading = new Set<string>();

  /**
   * Reads an upload, previews all of it, and stores it in place of the account's previous import. Fails while another one
   * of the account is read or running.
   *
   * @param receive writes the uploaded file, and returns how to read it
   */
  return <E, R>(owner: KeyOwner, receive: (file: ImportFile) => Effect.Effect<NewImport, E, R>) =>
    Effect.suspend(() => {
      const account = owner.account.name;
      if (reading.has(account)) return Effect.fail(new ImportRefused({ reason: "busy" }));
      reading.add(account);
      return Effect.ensuring(
        readUpload(owner, receive),
        Effect.sync(() => reading.delete(account)),
      );
    });
});

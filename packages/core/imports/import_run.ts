import { Clock, Effect, Stream } from "effect";
import { Digest } from "effect/crypto";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import { LinkCap } from "../links/link_cap.ts";
import { Secrets } from "../secrets/secrets.ts";
import { TurnAccount, Turns } from "../turns/mod.ts";
import type { ReadOptions } from "./formats/link_format.ts";
import { linkReaders } from "./formats/link_formats.ts";
import { ImportRefused, importFilesOn } from "./import_files.ts";
import type { ImportJob } from "./import_job.ts";
import { boundedLeftOut, leftOutHeader } from "./import_outcome.ts";
import { changesOfPlan, type ImportHolder, ImportStore } from "./import_store.ts";
import { type ImportObserver, type ImportPorts, importLinks } from "./link_import.ts";
import { UploadStore } from "./upload_store.ts";

const encoder = new TextEncoder();

/** Reads uploaded files on a node, and imports their links. */
export const makeImportRuns = Effect.fnUntraced(function* (node: string) {
  const { blockHash } = yield* Secrets;
  const chatHash = (pid: Pid, chatId: ChatId) => blockHash(pid, { chatId, gameId: null });
  const stores = yield* Effect.context<ImportPorts>();
  const imports = yield* ImportStore;
  const cap = yield* LinkCap;
  const { read, write } = importFilesOn(yield* UploadStore);
  const turns = new Turns({ resource: "import_files", places: 1 });

  const changesLeft = Effect.fnUntraced(function* (account: string) {
    const most = changesOfPlan * (yield* cap.planOf(account));
    const changed = yield* imports.countChanges(account, yield* Clock.currentTimeMillis);
    return Math.max(0, most - changed);
  });

  /**
   * Reads a file chunk by chunk. For each chunk it sleeps a millisecond, so that the process can answer requests.
   * Accounts take turns at that, so all reads together get at most one chunk per millisecond.
   */
  const linesOf = (id: string, account: string, options: ReadOptions) =>
    linkReaders.auto(
      Stream.tap(read(id, "upload"), () => turns.step(account, Effect.sleep(1))),
      { ...options, isRepeatable: true },
    );

  return {
    changesLeft,
    linesOf,

    /** Imports the whole file, or only previews it in a dry run. Stores the skipped rows in another file. */
    run: Effect.fnUntraced(function* (
      job: Omit<ImportJob, "changed" | "state">,
      dryRun: boolean,
      observer: Pick<ImportObserver<ImportRefused | StoreUnavailable>, "onProgress" | "onChanged">,
    ) {
      const { id, pid, account, origin, options, onConflict, fileName, rows } = job;
      const holder: ImportHolder = { id, node };
      const leftOut = write(holder, "left_out");
      const add = (text: string) => leftOut.append(encoder.encode(text));
      const bounded = boundedLeftOut();
      const unreadColumns = new Set<string>();
      yield* add(leftOutHeader);
      const outcome = yield* importLinks(
        {
          lines: linesOf(id, account, { ...options, unreadColumns }),
          isRepeatable: true,
          known: rows === undefined ? undefined : { name: `upload:${id}`, rows },
          unreadColumns,
        },
        {
          findScope: Effect.succeed(pid),
          origin,
          file: { id, name: fileName, isUndoable: true },
          holder,
          room: cap.roomOf({ account }),
          changesLeft: changesLeft(account),
          chatHash,
        },
        { dryRun, onConflict, givesWay: true },
        { ...observer, onLeftOut: (some) => add(bounded.add(some)) },
      ).pipe(
        Effect.catchTag("ImportEnded", ({ reason }) =>
          reason === "undo" ? new ImportRefused({ reason: "busy" }) : Effect.interrupt,
        ),
        Effect.provideContext(stores),
        Effect.provide(Digest.layerWebCrypto),
        Effect.provideService(TurnAccount, account),
      );
      yield* add(bounded.end());
      yield* leftOut.end;
      return outcome;
    }),
  };
});

export type ImportRuns = Effect.Success<ReturnType<typeof makeImportRuns>>;

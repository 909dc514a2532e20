/**
 * Imports links in batches and in constant memory.
 *
 * A file is read twice: first to check and hash every row, then to store its links. An upload, which was read for its
 * preview and cannot change, is read once, and has a name of its own. Else hash, scope and `onConflict` identify the
 * import, and the store keeps the number of rows up to its last stored batch. So an interrupted import is resumed after
 * that batch. A complete import of a file begins again, since links may have changed, and counts its other rows as
 * unchanged; an upload is imported once. A changed file is another import. A pipe can be read only once: its rows are
 * stored as they arrive, and its import cannot be resumed.
 *
 * If a chat user occurs twice, `onConflict` decides which link counts. The other link is reported as left out only if
 * both links are in one batch.
 */
import { type Array as Arr, Clock, Effect, Option, Stream } from "effect";
import { Digest } from "effect/crypto";
import type { BlockStore } from "../admission/block_store.ts";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import type { LinkRecord, LinkRoom, LinkStore } from "../links/mod.ts";
import type { LeftOutLine, LinkLine } from "./formats/link_format.ts";
import type { ChatHash, ConflictChoice } from "./import_batch.ts";
import { ImportEnded, type LinkChange, noBlocks, sortRows, takeBatch, WrongLines } from "./import_batch.ts";
import { Tally } from "./import_outcome.ts";
import {
  fileSources,
  type ImportedFile,
  type ImportHolder,
  ImportStore,
  type UndoPlace,
  type UnfinishedUndos,
  undosAtOnce,
} from "./import_store.ts";

/**
 * The number of rows in a batch. No transaction spans batches, so that a running server can write between them.
 * @internal
 */
export const batchSize = 20_000;

/** The stores that an import uses. @internal */
export type ImportPorts = BlockStore | ImportStore | KeyStore | LinkStore;

const allowsOneChatUser = (pid: Pid | null) =>
  KeyStore.use((store) =>
    Effect.map(
      pid === null ? Effect.succeedNone : store.findScopeByPid(pid),
      (found) => Option.getOrNull(found)?.settings.oneChatUser === true,
    ),
  );

/** A source of links, such as a file that is read by one of `linkReaders`. */
export interface LinkSource<E = never, R = never> {
  readonly lines: Stream.Stream<LinkLine, E, R>;
  /** True if `lines` can be run again from the beginning, as for a file; false for a pipe. */
  readonly isRepeatable: boolean;
  /**
   * For a source that was read before and cannot change: the name under which the progress is stored, and the number of
   * rows. Such a source is not checked again.
   */
  readonly known?: { readonly name: string; readonly rows: number } | undefined;
  /**
   * The names of the columns that were not read. Reading `lines` adds them to this set; see
   * `ReadOptions.unreadColumns`.
   */
  readonly unreadColumns?: ReadonlySet<string>;
}

export interface ImportTarget<E = never, R = never> {
  /**
   * Finds or creates the scope that receives the links. Runs after the check of the file, so that a refused file
   * creates no scope. In a dry run, it may return null if the scope does not exist.
   */
  readonly findScope: Effect.Effect<Pid | null, E, R>;
  readonly origin: WriteOrigin;
  /** The file, so that the import has one audit entry. If left out, each batch has one. */
  readonly file?: ImportedFile;
  /** Who works on the stored import, for an upload. */
  readonly holder?: ImportHolder;
  /** The room for new links. At its end the import stops, and its other rows are left out as `link_limit`. */
  readonly room?: LinkRoom;
  /** How many records may still change today. At its end, other changes are left out as `import_day`. */
  readonly changesLeft?: StoreEffect<number>;
  /** Hashes a chat user as `Secrets.blockHash` does, so that rows of erased users who are blocked are left out. */
  readonly chatHash?: ChatHash;
}

export interface ImportOptions {
  /**
   * Decides between the stored record of a chat user and a link of the file, or between two links of the file. `keep`
   * takes the first one, `replace` the second one, and `newest` (the default) the one that was verified last. A link
   * without a time never counts as newer than another.
   */
  readonly onConflict?: ConflictChoice;
  /** If true, the import stores nothing, and only counts the links that it would store. */
  readonly dryRun?: boolean;
  /** If true, a single wrong row makes the import fail with `WrongLines`. If false, wrong rows are left out. */
  readonly strict?: boolean;
  /** If true, the import ignores the stored progress of an interrupted import of the same file. */
  readonly fromStart?: boolean;
  /**
   * If true, the import stores few links at a time and rests in between, so that the process can answer requests. A
   * chat user who occurs twice is then reported only within 1,000 rows.
   */
  readonly givesWay?: boolean;
}

export interface ImportProgress {
  /** A dry run has only the phase `checking`. */
  readonly phase: "checking" | "importing";
  readonly rows: number;
  /** The number of all rows; null if unknown. */
  readonly total: number | null;
}

/** Functions that an import calls while it runs. */
export interface ImportObserver<E = never> {
  readonly onProgress?: (progress: ImportProgress) => Effect.Effect<void>;
  /** Called after each batch with its left-out rows, in the order of the file. */
  readonly onLeftOut?: (rows: ReadonlyArray<LeftOutLine>) => Effect.Effect<void, E>;
  /** Called in a dry run with the chat users who already have a record and whose game user the import would change. */
  readonly onChanged?: (changes: ReadonlyArray<LinkChange>) => Effect.Effect<void, E>;
}

/**
 * Imports links. The batches that change records share an audit entry if the target names the file, else each writes
 * one. No batch announces its changes through `LinkEvents`.
 *
 * Fails with `WrongLines`, and with the errors of the source and of `findScope`. Fails with `ImportEnded` while an import
 * of the scope is being undone, and if the target names the file and the data of the scope is deleted after the first
 * batch.
 *
 * @example
 * ```ts
 * import { Pid } from "@accountlink/core";
 * import { KeyStore } from "@accountlink/core/keys";
 * import type { ImportOutcome, LinkSource, UnreadableLinkFile } from "@accountlink/core/imports";
 * import { allLinks } from "@accountlink/core/links";
 * import { StorageMemory } from "@accountlink/memory";
 * import { Effect, Layer, Stream } from "effect";
 * import { Digest } from "effect/crypto";
 *
 * const pid = Pid.make("pid_0123456789abcdefghij");
 * const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;
 * const file = Stream.encodeText(Stream.make("Discord ID;Roblox ID\n", "100001;1\n", "100002;2E+17\n"));
 * const source: LinkSource<UnreadableLinkFile> = { lines: linkReaders.auto(file), isRepeatable: true };
 * const program = Effect.gen(function* () {
 *   const keys = yield* KeyStore;
 *   yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
 *   yield* keys.ensureScope("acme", { kind: "global" }, pid);
 *   const outcome: ImportOutcome = yield* importLinks(source, { findScope: Effect.succeed(pid), origin });
 *   const links = yield* Stream.runCollect(allLinks(pid));
 *   return [links.map(({ gameId }) => gameId), outcome.reasons.map(({ reason, count }) => [reason, count])];
 * });
 * const layer = Layer.merge(StorageMemory.layer, Digest.layerWebCrypto);
 * await Effect.runPromise(Effect.provide(program, layer)); // [["1"], [["destroyed", 1]]]
 * ```
 */
export const importLinks = Effect.fn("importLinks")(function* <E, R, E2, R2, E3 = never>(
  source: LinkSource<E, R>,
  { findScope, origin, file, holder, room, changesLeft, chatHash }: ImportTarget<E2, R2>,
  {
    onConflict = "newest",
    dryRun = false,
    strict = false,
    fromStart = false,
    givesWay = false,
  }: ImportOptions = {},
  { onProgress = ignore, onLeftOut = ignore, onChanged = ignore }: ImportObserver<E3> = {},
) {
  const check = yield* checkRows(source, { onConflict, dryRun, strict, givesWay }, onProgress);
  yield* refuseWrong(check, strict);
  yield* refuseRounded(check.rounded);
  const pid = yield* findScope;
  yield* refuseUndo(pid);
  const { name, resumedAfter } = yield* progressOf(pid, onConflict, check, {
    fromStart,
    startsOnce: source.known !== undefined,
  });
  const tally = new Tally();
  if (changesLeft !== undefined) tally.changesLeft = yield* changesLeft;
  const staged = new Map<ChatId, LinkRecord>();
  const batch = {
    pid,
    onConflict,
    dryRun,
    strict,
    origin,
    file,
    holder,
    name,
    staged,
    stagedUsers: new Map<GameId, ChatId>(),
    resumedAfter,
    room: room && (dryRun ? yield* plannedUse(room, tally) : room.use),
    chatHash,
    blocks: noBlocks(),
    oneChatUser: yield* allowsOneChatUser(pid),
  };
  const now = yield* Clock.currentTimeMillis;
  yield* batchesOf(source, givesWay).pipe(
    Stream.runForEachArray(
      Effect.fnUntraced(function* (lines: Arr.NonEmptyReadonlyArray<LinkLine>) {
        const phase = dryRun ? "checking" : "importing";
        const begun = yield* Clock.currentTimeMillis;
        tally.noteIds(lines);
        const { leftOut, changed } = yield* takeBatch(lines, tally, batch, now);
        yield* onLeftOut(leftOut);
        if (changed.length > 0) yield* onChanged(changed);
        yield* onProgress({ phase, rows: tally.rows, total: check.rows });
        if (givesWay) yield* Effect.sleep(1 + 4 * ((yield* Clock.currentTimeMillis) - begun));
      }),
    ),
  );
  yield* refuseRead(tally, { dryRun, resumedAfter });
  return tally.outcome({
    links: tally.links,
    resumedAfter,
    unreadColumns: [...(source.unreadColumns ?? [])],
  });
});

/** Fails with `WrongLines` if the file has wrong rows, and the import is strict or found no link. */
const refuseWrong = (
  { count, problems, links }: Omit<Check, "rows" | "hash" | "rounded">,
  strict: boolean,
) => (count > 0 && (strict || links === 0) ? new WrongLines({ count, problems, stored: 0 }) : Effect.void);

/** Fails with `WrongLines` if so many chat IDs are rounded that a program has done it. */
const refuseRounded = (rounded: Tally["roundedLines"]) =>
  rounded === null ? Effect.void : new WrongLines({ ...rounded, stored: 0, isRounded: true });

/** Refuses a file that was read to its end. Stored links stay, so only a dry run refuses rounded chat IDs. */
const refuseRead = Effect.fnUntraced(function* (
  { wrongLines, links, roundedLines }: Tally,
  { dryRun, resumedAfter }: { readonly dryRun: boolean; readonly resumedAfter: number },
) {
  if (resumedAfter === 0) yield* refuseWrong({ ...wrongLines, links }, false);
  if (dryRun) yield* refuseRounded(roundedLines);
});

const refuseUndo = Effect.fnUntraced(function* (pid: Pid | null) {
  if (pid === null) return;
  const imports = yield* ImportStore;
  for (let place: UndoPlace | null = null; ; ) {
    const { undos, next }: UnfinishedUndos = yield* imports.unfinishedUndos(place, undosAtOnce);
    if (undos.some((one) => one.pid === pid)) return yield* new ImportEnded({ reason: "undo" });
    if (next === null) return;
    place = next;
  }
});

const ignore = () => Effect.void;

interface Check {
  readonly rounded: Tally["roundedLines"];
  readonly links: number;
  readonly count: number;
  readonly problems: ReadonlyArray<LeftOutLine>;
  /**
   * The number of rows. Null if the file was not checked: a pipe is never checked, and a dry run only if it is
   * `strict`.
   */
  readonly rows: number | null;
  /**
   * The hash of all rows, or the name of a known source. Null if the file was not checked. Also null in every dry run,
   * because a dry run is not resumed.
   */
  readonly hash: string | null;
}

const unchecked: Check = { rounded: null, links: 0, count: 0, problems: [], rows: null, hash: null };

/** Replaces `LinkRoom.use` in a dry run, which makes no links. */
const plannedUse = Effect.fnUntraced(function* (room: LinkRoom, tally: Tally) {
  const left = yield* room.count;
  const use: LinkRoom["use"] = (wanted, write) => write(Math.min(wanted, left - tally.counts.inserted));
  return use;
});

/**
 * Returns the name under which the progress of an import is stored, and the stored position. An import of another file,
 * into another scope or with another `onConflict` starts from the beginning.
 */
const progressOf = Effect.fnUntraced(function* (
  pid: Pid | null,
  onConflict: ConflictChoice,
  { hash, rows }: Check,
  { fromStart, startsOnce }: { readonly fromStart: boolean; readonly startsOnce: boolean },
) {
  if (hash === null || pid === null) return { name: null, resumedAfter: 0 };
  const name = `${fileSources(pid).from}${onConflict}:${hash}`;
  const position = fromStart ? 0 : yield* (yield* ImportStore).importPosition(name);
  return { name, resumedAfter: position === rows && !startsOnce ? 0 : position };
});

const batchesOf = <E, R>({ lines }: LinkSource<E, R>, givesWay: boolean) =>
  Stream.rechunk(lines, givesWay ? batchSize / 20 : batchSize);

const checkRows = Effect.fnUntraced(function* <E, R>(
  source: LinkSource<E, R>,
  { dryRun, strict, onConflict, givesWay }: Required<Omit<ImportOptions, "fromStart">>,
  onProgress: (progress: ImportProgress) => Effect.Effect<void>,
) {
  if (!source.isRepeatable || (dryRun && !strict)) return unchecked;
  if (source.known !== undefined) return { ...unchecked, rows: source.known.rows, hash: source.known.name };
  const digest = yield* Digest.Digest;
  const tally = new Tally();
  let hash = dryRun ? null : "";
  yield* batchesOf(source, givesWay).pipe(
    Stream.runForEachArray(
      Effect.fnUntraced(function* (batch: Arr.NonEmptyReadonlyArray<LinkLine>) {
        const { links, leftOut } = sortRows(batch, onConflict);
        tally.links += links.length;
        tally.noteIds(batch);
        for (const row of leftOut) tally.leaveOut(row);
        if (hash !== null) {
          // A digest takes its whole input at once, so each batch is hashed together with the previous hash.
          const text = `${hash}\n${batch.map(textOf).join("\n")}`;
          hash = yield* digest.digestHex(Digest.sha256, new TextEncoder().encode(text));
        }
        tally.rows += batch.length;
        yield* onProgress({ phase: "checking", rows: tally.rows, total: null });
      }),
    ),
  );
  const { links, rows, wrongLines, roundedLines: rounded } = tally;
  return { links, ...wrongLines, rounded, rows, hash } satisfies Check;
});

const textOf = (read: LinkLine): string =>
  "link" in read
    ? `${read.line} ${read.link.chatId} ${read.link.gameId} ${read.link.lastVerifiedAt}`
    : `${read.line} ${read.problem}`;

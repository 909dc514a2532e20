/**
 * Imports links in batches and in constant memory.
 *
 * A file is read twice: first to check and hash every row, then to store its links. Hash, scope and `onConflict`
 * identify the import, and the store keeps the number of rows up to its last stored batch. So an interrupted import is
 * resumed, a completed import is not repeated, and a changed file is another import. A pipe can be read only once: its
 * rows are stored as they arrive, and its import cannot be resumed.
 *
 * If a chat user occurs twice, `onConflict` decides which link counts. The other link is reported as left out only if
 * both links are in one batch.
 */
import { Array as Arr, Clock, Data, Effect, Stream } from "effect";
import { Digest } from "effect/crypto";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import { type FileLink, type LeftOutLine, type LinkLine } from "./formats/link_format.ts";
import { Tally } from "./import_outcome.ts";
import type { LinkRecord } from "./link.ts";
import { importEffect, importedRecord } from "./link_changes.ts";
import { type BatchImported, type ImportBatch, LinkStore, type PortableLink } from "./link_store.ts";
import { type ConflictChoice, choose, type PlacedLink, repeatProblem } from "./repeated_links.ts";

/**
 * The number of rows in a batch. No transaction spans batches, so that a running server can write between them.
 *
 * @internal
 */
export const batchSize = 20_000;

/** How many chat users a dry run remembers, to notice those who occur again in later batches. */
const maxStaged = 100_000;

/** A source of links, such as a file that is read by one of `linkReaders`. */
export interface LinkSource<E = never, R = never> {
  readonly lines: Stream.Stream<LinkLine, E, R>;
  /** True if `lines` can be run again from the beginning, as for a file; false for a pipe. */
  readonly isRepeatable: boolean;
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
}

const defaults = { onConflict: "newest", dryRun: false, strict: false, fromStart: false } as const;

export interface ImportProgress {
  /** A dry run has only the phase `checking`. */
  readonly phase: "checking" | "importing";
  readonly rows: number;
  /** The number of all rows; null if unknown. */
  readonly total: number | null;
}

/** A chat user whose link an import changes. */
export interface LinkChange {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Null if the chat user's link was removed before the import. */
  readonly previousGameId: GameId | null;
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
 * With `strict`, the file has at least one wrong row. Without `strict`, the file has wrong rows and not a single link.
 */
export class WrongLines extends Data.TaggedError("WrongLines")<{
  readonly count: number;
  /** The first wrong rows. */
  readonly problems: ReadonlyArray<LeftOutLine>;
  /** The number of links in the batches that were stored before the failure. */
  readonly stored: number;
}> {
  readonly code = "WRONG_LINES";
  readonly details = { count: this.count, problems: this.problems, stored: this.stored };
  override readonly message = `Cannot import line ${this.problems[0]?.line}: ${this.problems[0]?.problem}`;
}

/**
 * Imports links. Each batch that changes records writes an audit entry. No batch announces its changes through
 * `LinkEvents`.
 *
 * Fails with `WrongLines`, and with the errors of the source and of `findScope`.
 *
 * @example
 * ```ts
 * import { Pid } from "@accountlink/core";
 * import { KeyStore } from "@accountlink/core/keys";
 * import type { ImportOutcome, LinkSource, UnreadableLinkFile } from "@accountlink/core/links";
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
  { findScope, origin }: ImportTarget<E2, R2>,
  options: ImportOptions = {},
  observer: ImportObserver<E3> = {},
) {
  const chosen = { ...defaults, ...options };
  const { onConflict, dryRun, strict } = chosen;
  const { onProgress, onLeftOut, onChanged } = { ...silent, ...observer };
  const isChecked = source.isRepeatable && (strict || !dryRun);
  const check = isChecked ? yield* checkRows(source, chosen, onProgress) : unchecked;
  yield* refuseWrong(check, strict);
  const pid = yield* findScope;
  const name = nameOf(pid, chosen, check);
  const resumedAfter = yield* positionOf(name, chosen, check);
  const tally = new Tally();
  const staged = new Map<ChatId, LinkRecord>();
  const batch = { pid, onConflict, dryRun, strict, origin, name, staged, resumedAfter };
  const phase = dryRun ? "checking" : "importing";
  const now = yield* Clock.currentTimeMillis;
  yield* source.lines.pipe(
    Stream.rechunk(batchSize),
    Stream.runForEachArray(
      Effect.fnUntraced(function* (lines: Arr.NonEmptyReadonlyArray<LinkLine>) {
        const { leftOut, changed } = yield* takeBatch(lines, tally, batch, now);
        yield* onLeftOut(leftOut);
        if (changed.length > 0) yield* onChanged(changed);
        yield* onProgress({ phase, rows: tally.rows, total: check.rows });
      }),
    ),
  );
  if (resumedAfter === 0) yield* refuseWrong({ ...tally.wrongLines, links: tally.links }, false);
  return tally.outcome({
    links: tally.links,
    resumedAfter,
    unreadColumns: [...(source.unreadColumns ?? [])],
  });
});

/** Fails with `WrongLines` if the file has wrong rows, and the import is strict or found no link. */
const refuseWrong = ({ count, problems, links }: Omit<Check, "rows" | "hash">, strict: boolean) =>
  count > 0 && (strict || links === 0)
    ? Effect.fail(new WrongLines({ count, problems, stored: 0 }))
    : Effect.void;

const silent = { onProgress: () => Effect.void, onLeftOut: () => Effect.void, onChanged: () => Effect.void };

interface Check {
  readonly links: number;
  readonly count: number;
  readonly problems: ReadonlyArray<LeftOutLine>;
  /**
   * The number of rows. Null if the file was not checked: a pipe is never checked, and a dry run only if it is
   * `strict`.
   */
  readonly rows: number | null;
  /**
   * The hash of all rows. Null if the file was not checked. Also null in every dry run, because a dry run is not
   * resumed.
   */
  readonly hash: string | null;
}

const unchecked: Check = { links: 0, count: 0, problems: [], rows: null, hash: null };

/**
 * Returns the name under which the progress of an import is stored; null if the import cannot be resumed. An import of
 * another file, into another scope or with another `onConflict` has another name, so it starts from the beginning.
 */
const nameOf = (pid: Pid | null, { onConflict }: Required<ImportOptions>, { hash }: Check): string | null =>
  hash === null || pid === null ? null : `file:${pid}:${onConflict}:${hash}`;

/** A complete import begins again: links may have changed since, and its rows that have not are counted as unchanged. */
const positionOf = Effect.fnUntraced(function* (
  name: string | null,
  { fromStart }: Required<ImportOptions>,
  { rows }: Check,
) {
  const position = name === null || fromStart ? 0 : yield* (yield* LinkStore).importPosition(name);
  return position === rows ? 0 : position;
});

const checkRows = Effect.fnUntraced(function* <E, R>(
  { lines }: LinkSource<E, R>,
  { dryRun, onConflict }: Required<ImportOptions>,
  onProgress: (progress: ImportProgress) => Effect.Effect<void>,
) {
  const digest = yield* Digest.Digest;
  const tally = new Tally();
  let hash = dryRun ? null : "";
  yield* lines.pipe(
    Stream.rechunk(batchSize),
    Stream.runForEachArray(
      Effect.fnUntraced(function* (batch: Arr.NonEmptyReadonlyArray<LinkLine>) {
        const { links, leftOut } = sortRows(batch, onConflict);
        tally.links += links.length;
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
  return { links: tally.links, ...tally.wrongLines, rows: tally.rows, hash } satisfies Check;
});

const textOf = (read: LinkLine): string =>
  "link" in read
    ? `${read.line} ${read.link.chatId} ${read.link.gameId} ${read.link.lastVerifiedAt}`
    : `${read.line} ${read.problem}`;

interface BatchOptions {
  readonly pid: Pid | null;
  readonly onConflict: ConflictChoice;
  readonly dryRun: boolean;
  readonly strict: boolean;
  readonly origin: WriteOrigin;
  readonly name: string | null;
  /** The records that a dry run would have stored so far. */
  readonly staged: Map<ChatId, LinkRecord>;
  readonly resumedAfter: number;
}

/**
 * Stores the links of a batch; a dry run only computes what would change. Returns the left-out rows and, in a dry run,
 * the changed links.
 */
const takeBatch = Effect.fnUntraced(function* (
  rows: Arr.NonEmptyReadonlyArray<LinkLine>,
  tally: Tally,
  options: BatchOptions,
  now: Millis,
) {
  const { pid, onConflict, dryRun, strict, origin, name, staged, resumedAfter } = options;
  const { links, leftOut } = sortRows(rows, onConflict);
  tally.rows += rows.length;
  for (const row of leftOut) tally.leaveOut(row);
  if (strict && tally.wrong.length > 0) {
    const { inserted, replaced, unchanged, kept } = tally.counts;
    const stored = dryRun ? 0 : inserted + replaced + unchanged + kept;
    return yield* new WrongLines({ ...tally.wrongLines, stored });
  }
  const changed: Array<LinkChange> = [];
  const position = tally.rows;
  if (position <= resumedAfter) return { leftOut, changed };
  tally.links += links.length;
  const progress = name === null ? null : { source: name, position };
  const parts = partsOf(links, onConflict);
  for (const [index, { existing, links: part }] of parts.entries()) {
    const portable = part.map(
      (link): PortableLink => ({ ...link, lastVerifiedAt: link.lastVerifiedAt ?? now }),
    );
    tally.add(
      dryRun || pid === null
        ? yield* preview(pid, portable, existing, staged, changed)
        : yield* (yield* LinkStore).importBatch({
            ...origin,
            pid,
            at: yield* Clock.currentTimeMillis,
            links: portable,
            existing,
            progress: index === parts.length - 1 ? progress : null,
          }),
    );
  }
  return { leftOut, changed };
});

interface Part {
  readonly existing: ConflictChoice;
  readonly links: ReadonlyArray<FileLink>;
}

/**
 * Splits links into parts to import one after the other. With `newest`, links without a verification time must not
 * replace records. They are stored with the current time, so they are a separate part with `keep`.
 */
const partsOf = (links: ReadonlyArray<FileLink>, onConflict: ConflictChoice): ReadonlyArray<Part> => {
  if (onConflict !== "newest") return [{ existing: onConflict, links }];
  const timeless = links.filter(({ lastVerifiedAt }) => lastVerifiedAt === null);
  if (timeless.length === 0) return [{ existing: "newest", links }];
  const timed: Part = {
    existing: "newest",
    links: links.filter(({ lastVerifiedAt }) => lastVerifiedAt !== null),
  };
  const untimed: Part = { existing: "keep", links: timeless };
  return timed.links.length === 0 ? [untimed] : [untimed, timed];
};

/** Returns one link for each chat user of a batch, and the rows to leave out. */
const sortRows = (rows: ReadonlyArray<LinkLine>, onConflict: ConflictChoice) => {
  const leftOut: Array<LeftOutLine> = [];
  const byChatUser = new Map<ChatId, PlacedLink>();
  for (const row of rows) {
    if (!("link" in row)) {
      leftOut.push(row);
      continue;
    }
    const next = { line: row.line, ...row.link };
    const last = byChatUser.get(next.chatId);
    const chosen = last === undefined ? next : choose(last, next, onConflict);
    if (last !== undefined) leftOut.push(repeatProblem(chosen === next ? last : next, chosen));
    byChatUser.set(next.chatId, chosen);
  }
  const links = Array.from(byChatUser.values(), ({ chatId, gameId, lastVerifiedAt }) => ({
    chatId,
    gameId,
    lastVerifiedAt,
  }));
  return { links, leftOut: leftOut.toSorted((one, other) => one.line - other.line) };
};

/** Computes what `importBatch` would do with links of different chat users. Adds the links that change to `changed`. */
const preview = Effect.fnUntraced(function* (
  pid: Pid | null,
  links: ReadonlyArray<PortableLink>,
  existing: ImportBatch["existing"],
  staged: Map<ChatId, LinkRecord>,
  changed: Array<LinkChange>,
): Effect.fn.Return<BatchImported, StoreUnavailable, LinkStore> {
  const chatIds = links.map(({ chatId }) => chatId);
  const records =
    pid === null ? new Map<ChatId, never>() : yield* (yield* LinkStore).findByChatIds(pid, chatIds);
  const counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
  for (const link of links) {
    const record = staged.get(link.chatId) ?? records.get(link.chatId);
    const next = importedRecord(record, link, existing);
    counts[importEffect(record, next, link)]++;
    if (record !== undefined && record.gameId !== next.gameId) {
      changed.push({ chatId: link.chatId, gameId: link.gameId, previousGameId: record.gameId });
    }
    if (staged.size < maxStaged) staged.set(link.chatId, next);
  }
  return counts;
});

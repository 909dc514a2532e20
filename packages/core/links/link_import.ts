/**
 * Imports of links, in batches and in constant memory.
 *
 * A file is read twice: to check every row and to hash it, and to store its links. The hash, the scope and the options
 * identify the import, for which the store keeps the last line of the last batch. So an interrupted import is resumed, a
 * completed one is not repeated, and a changed file is another import. A pipe can be read only once: its rows are stored
 * as they arrive, and it cannot be resumed. A chat user named twice in one batch is reported with both lines; in
 * different batches, the store applies the same rule to the record of the first one.
 */
import { Array as Arr, Clock, Data, Effect, Stream } from "effect";
import { Digest } from "effect/crypto";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import { type FileLink, type LeftOutLine, type LinkLine } from "./formats/link_format.ts";
import { Tally } from "./import_outcome.ts";
import type { LinkRecord } from "./link.ts";
import { importEffect, importedRecord } from "./link_changes.ts";
import { type BatchImported, type ImportBatch, LinkStore, type PortableLink } from "./link_store.ts";
import { type ConflictChoice, choose, type PlacedLink, repeatProblem } from "./repeated_links.ts";

/**
 * The number of rows in a batch, whose links are one transaction. A running server writes between
 * batches.
 *
 * @internal
 */
export const batchSize = 20_000;

/** How many chat users a dry run remembers, to count those that later batches name again. */
const maxStaged = 100_000;

/** Where links come from, such as a file in one of `linkReaders`. */
export interface LinkSource<E = never, R = never> {
  readonly lines: Stream.Stream<LinkLine, E, R>;
  /** Whether the stream begins anew each time that it runs, as that of a file does. */
  readonly isRepeatable: boolean;
  /** The columns that are not read, which reading adds: `ReadOptions.unreadColumns`. */
  readonly unreadColumns?: ReadonlySet<string>;
}

/** Where links go to. */
export interface ImportTarget<E = never, R = never> {
  /**
   * Runs after the check of the file, so that it may create the scope. In a dry run it may return null for a scope that
   * does not exist yet.
   */
  readonly findScope: Effect.Effect<Pid | null, E, R>;
  readonly origin: WriteOrigin;
}

export interface ImportOptions {
  /**
   * What to do with a chat user who has a record, and with one whom the file names twice: keep the first link, replace
   * it, or take what was verified last; `newest` if left out. A link without a time is never newer.
   */
  readonly onConflict?: ConflictChoice;
  /** Stores nothing, and counts what would be stored. */
  readonly dryRun?: boolean;
  /** Refuses the whole file with `WrongLines` if a single row is wrong. Without it, wrong rows are left out. */
  readonly strict?: boolean;
  /** Ignores the progress of an earlier import of the same file. */
  readonly fromStart?: boolean;
}

const defaults = { onConflict: "newest", dryRun: false, strict: false, fromStart: false } as const;

/** How far an import is. */
export interface ImportProgress {
  /** A dry run only checks. */
  readonly phase: "checking" | "importing";
  readonly rows: number;
  /** The number of all rows; null if unknown. */
  readonly total: number | null;
}

/** What hears of an import while it runs. */
export interface ImportObserver<E = never> {
  /** Runs after each batch. */
  readonly onProgress?: (progress: ImportProgress) => Effect.Effect<void>;
  /** Takes every row that is left out, in their order, as links are stored. */
  readonly onLeftOut?: (rows: ReadonlyArray<LeftOutLine>) => Effect.Effect<void, E>;
}

/** The file has wrong rows: with `strict` any, else nothing but wrong rows. */
export class WrongLines extends Data.TaggedError("WrongLines")<{
  readonly count: number;
  /** The first of them. */
  readonly problems: ReadonlyArray<LeftOutLine>;
  /** The number of links that were stored before. */
  readonly stored: number;
}> {
  readonly code = "WRONG_LINES";
  readonly details = { count: this.count, problems: this.problems, stored: this.stored };
  override readonly message = `Cannot import line ${this.problems[0]?.line}: ${this.problems[0]?.problem}`;
}

/**
 * Imports links. Each batch writes an entry to the audit log, and none is an event of `LinkEvents`.
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
  const { onProgress, onLeftOut } = { ...silent, ...observer };
  const isChecked = source.isRepeatable && (strict || !dryRun);
  const check = isChecked ? yield* checkRows(source, chosen, onProgress) : unchecked;
  yield* refuseWrong(check, strict);
  const pid = yield* findScope;
  const name = nameOf(pid, chosen, check);
  const resumedAfter = yield* positionOf(name, chosen);
  const tally = new Tally();
  const outcomeOf = (links: number, doneBefore: boolean) =>
    tally.outcome({ links, resumedAfter, doneBefore, unreadColumns: [...(source.unreadColumns ?? [])] });
  if (check.rows !== null && resumedAfter > 0 && resumedAfter >= check.rows) {
    return outcomeOf(check.links, true);
  }
  const staged = new Map<ChatId, LinkRecord>();
  const batch = { pid, onConflict, dryRun, strict, origin, name, staged, resumedAfter };
  const phase = dryRun ? "checking" : "importing";
  const now = yield* Clock.currentTimeMillis;
  yield* source.lines.pipe(
    Stream.rechunk(batchSize),
    Stream.runForEachArray(
      Effect.fnUntraced(function* (lines: Arr.NonEmptyReadonlyArray<LinkLine>) {
        yield* onLeftOut(yield* takeBatch(lines, tally, batch, now));
        yield* onProgress({ phase, rows: tally.rows, total: check.rows });
      }),
    ),
  );
  if (resumedAfter === 0) yield* refuseWrong({ ...tally.wrongLines, links: tally.links }, false);
  return outcomeOf(tally.links, false);
});

/** Refuses what has no link among its wrong rows, or any wrong row at all. */
const refuseWrong = ({ count, problems, links }: Omit<Check, "rows" | "hash">, strict: boolean) =>
  count > 0 && (strict || links === 0)
    ? Effect.fail(new WrongLines({ count, problems, stored: 0 }))
    : Effect.void;

const silent = { onProgress: () => Effect.void, onLeftOut: () => Effect.void };

/** What the check of a file finds. */
interface Check {
  readonly links: number;
  /** The number of wrong rows. */
  readonly count: number;
  readonly problems: ReadonlyArray<LeftOutLine>;
  /** Null for what is not checked: a pipe, and the file of a dry run. */
  readonly rows: number | null;
  /** Null also for a dry run, which is not resumed. */
  readonly hash: string | null;
}

const unchecked: Check = { links: 0, count: 0, problems: [], rows: null, hash: null };

/** The name of an import that can be resumed. The same file in another scope or with other options is another one. */
const nameOf = (pid: Pid | null, { onConflict }: Required<ImportOptions>, { hash }: Check): string | null =>
  hash === null || pid === null ? null : `file:${pid}:${onConflict}:${hash}`;

const positionOf = Effect.fnUntraced(function* (name: string | null, { fromStart }: Required<ImportOptions>) {
  return name === null || fromStart ? 0 : yield* (yield* LinkStore).importPosition(name);
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
          // A digest takes its whole input at once, so each batch is hashed together with the hash of those before.
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

/** Stores the links of a batch, and returns the rows that it leaves out. */
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
    return yield* new WrongLines({ ...tally.wrongLines, stored: inserted + replaced + unchanged + kept });
  }
  const position = tally.rows;
  if (position <= resumedAfter) return leftOut;
  tally.links += links.length;
  const progress = name === null ? null : { source: name, position };
  const parts = partsOf(links, onConflict);
  for (const [index, { existing, links: part }] of parts.entries()) {
    const portable = part.map(
      (link): PortableLink => ({ ...link, lastVerifiedAt: link.lastVerifiedAt ?? now }),
    );
    tally.add(
      dryRun || pid === null
        ? yield* preview(pid, portable, existing, staged)
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
  return leftOut;
});

interface Part {
  readonly existing: ConflictChoice;
  readonly links: ReadonlyArray<FileLink>;
}

/** A link without a time is not known to be newer than a record. */
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

/** The links of a batch that count, one of each chat user, and the rows that are left out. */
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

/** What `importBatch` would do with links of different chat users. */
const preview = Effect.fnUntraced(function* (
  pid: Pid | null,
  links: ReadonlyArray<PortableLink>,
  existing: ImportBatch["existing"],
  staged: Map<ChatId, LinkRecord>,
): Effect.fn.Return<BatchImported, StoreUnavailable, LinkStore> {
  const chatIds = links.map(({ chatId }) => chatId);
  const records =
    pid === null ? new Map<ChatId, never>() : yield* (yield* LinkStore).findByChatIds(pid, chatIds);
  const counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
  for (const link of links) {
    const record = staged.get(link.chatId) ?? records.get(link.chatId);
    const next = importedRecord(record, link, existing);
    counts[importEffect(record, next, link)]++;
    if (staged.size < maxStaged) staged.set(link.chatId, next);
  }
  return counts;
});

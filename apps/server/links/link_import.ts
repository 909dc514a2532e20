/**
 * Imports links from a file, in batches and in constant memory.
 *
 * A file is read twice: first to check every line and to hash it, then to store its links. The
 * hash, the scope and the options identify the import, for which the store keeps the last line of
 * the last batch. So an interrupted import is resumed, a completed one is not repeated, and a
 * changed file is another import. Standard input can be read only once: its lines are stored as
 * they arrive, and it cannot be resumed.
 */
import { createHash } from "node:crypto";
import { type ChatId, LinkStore, type Pid, type StoreUnavailable } from "@accountlink/core";
import type { BatchImported, ImportBatch, LinkRecord, PortableLink } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Clock, Data, Effect, Stream } from "effect";
import type { ShowProgress } from "../cli/progress.ts";
import { operatorOrigin } from "../commands/operator_origin.ts";
import { type LinkFormat, type LinkLine, parseLinkLines } from "./link_files.ts";

/**
 * The number of links in a batch, which is one transaction. A running server writes between
 * batches.
 */
export const batchSize = 20_000;

/** The number of wrong lines that are reported in full; others are counted. */
const toldProblems = 10;

/** The source of links. */
export interface LinkSource<E> {
  readonly bytes: Stream.Stream<Uint8Array, E>;
  readonly format: LinkFormat;
  /** The size in bytes of a file; null for a source that can be read only once. */
  readonly size: number | null;
}

export interface ImportOptions {
  readonly existing: ImportBatch["existing"];
  /** Stores nothing, and counts what would be stored. */
  readonly dryRun: boolean;
  /** Skips wrong lines. */
  readonly skipInvalid: boolean;
  /** Ignores the progress of an earlier import of the same file. */
  readonly fromStart: boolean;
}

export interface WrongLine {
  readonly line: number;
  readonly problem: string;
}

/** The result of an import. */
export interface ImportOutcome extends BatchImported {
  /** The number of links in the file, without wrong lines. */
  readonly links: number;
  readonly refused: number;
  /** The first of the wrong lines. */
  readonly problems: ReadonlyArray<WrongLine>;
  /** The line after which an interrupted import was resumed; 0 for a new import. */
  readonly resumedAfter: number;
  /** Whether an earlier import had completed. */
  readonly doneBefore: boolean;
}

/** The file has wrong lines, which are not to be skipped. */
export class WrongLines extends Data.TaggedError("WrongLines")<{
  readonly count: number;
  /** The first of them. */
  readonly problems: ReadonlyArray<WrongLine>;
  /** The number of links that were stored before. */
  readonly stored: number;
}> {}

/**
 * Imports links. Each batch writes an entry to the audit log.
 *
 * `findScope` runs after the check of the file. In a dry run it may return null for a scope that
 * does not exist yet.
 *
 * Fails with `WrongLines`, with `UnreadableLinkFile` if the file cannot be parsed to its end, and
 * with the errors of `bytes`.
 */
export const importLinks = Effect.fn("importLinks")(function* <E, E2, R>(
  source: LinkSource<E>,
  findScope: Effect.Effect<Pid | null, E2, R>,
  options: ImportOptions,
  show: ShowProgress,
) {
  const now = yield* Clock.currentTimeMillis;
  const check = source.size === null ? null : yield* checkFile(source, source.size, now, show);
  if (check !== null && check.refused > 0 && !options.skipInvalid) {
    return yield* new WrongLines({ count: check.refused, problems: check.problems, stored: 0 });
  }
  const pid = yield* findScope;
  const name = check === null || pid === null || options.dryRun ? null : importName(check.hash, pid, options);
  const resumedAfter =
    name === null || options.fromStart ? 0 : yield* (yield* LinkStore).importPosition(name);
  const tally = emptyTally();
  if (check !== null && resumedAfter > 0 && resumedAfter >= check.lastLine) {
    return { ...tally, links: check.links, resumedAfter, doneBefore: true } satisfies ImportOutcome;
  }
  yield* parseLinkLines(source.bytes, source.format, now).pipe(
    Stream.dropWhile(({ line }) => line <= resumedAfter),
    Stream.rechunk(batchSize),
    Stream.runForEachArray(
      Effect.fnUntraced(function* (lines: Arr.NonEmptyReadonlyArray<LinkLine>) {
        yield* takeBatch(lines, tally, pid, name, options);
        const done = Arr.lastNonEmpty(lines).line;
        yield* show({ doing: "importing", done, total: check?.lastLine ?? null, unit: "lines" });
      }),
    ),
  );
  return { ...tally, resumedAfter, doneBefore: false } satisfies ImportOutcome;
});

interface Tally {
  links: number;
  refused: number;
  problems: Array<WrongLine>;
  inserted: number;
  replaced: number;
  kept: number;
}

const emptyTally = (): Tally => ({ links: 0, refused: 0, problems: [], inserted: 0, replaced: 0, kept: 0 });

/** Counts lines and returns their links. */
const takeLines = (lines: ReadonlyArray<LinkLine>, tally: Tally): ReadonlyArray<PortableLink> => {
  const links: Array<PortableLink> = [];
  for (const read of lines) {
    if ("link" in read) links.push(read.link);
    else {
      tally.refused++;
      if (tally.problems.length < toldProblems) tally.problems.push(read);
    }
  }
  tally.links += links.length;
  return links;
};

const checkFile = Effect.fnUntraced(function* <E>(
  { bytes, format }: LinkSource<E>,
  size: number,
  now: Millis,
  show: ShowProgress,
) {
  const tally = emptyTally();
  const hash = createHash("sha256");
  let read = 0;
  let lastLine = 0;
  yield* bytes.pipe(
    Stream.tap((chunk) => {
      hash.update(chunk);
      read += chunk.length;
      return show({ doing: "checking", done: read, total: size, unit: null });
    }),
    (seen) => parseLinkLines(seen, format, now),
    Stream.runForEachArray((lines) =>
      Effect.sync(() => {
        takeLines(lines, tally);
        lastLine = Arr.lastNonEmpty(lines).line;
      }),
    ),
  );
  return {
    links: tally.links,
    refused: tally.refused,
    problems: tally.problems,
    lastLine,
    hash: hash.digest("hex"),
  };
});

/** The same file in another scope or with other options is another import. */
const importName = (hash: string, pid: Pid, { existing }: ImportOptions): string =>
  `file:${pid}:${existing}:${hash}`;

const takeBatch = Effect.fnUntraced(function* (
  lines: Arr.NonEmptyReadonlyArray<LinkLine>,
  tally: Tally,
  pid: Pid | null,
  name: string | null,
  { existing, dryRun, skipInvalid }: ImportOptions,
) {
  const links = takeLines(lines, tally);
  if (tally.refused > 0 && !skipInvalid) {
    const stored = tally.inserted + tally.replaced + tally.kept;
    return yield* new WrongLines({ count: tally.refused, problems: tally.problems, stored });
  }
  const distinct = onePerChatUser(links, existing);
  const repeated = links.length - distinct.length;
  const progress = name === null ? null : { source: name, position: Arr.lastNonEmpty(lines).line };
  const imported =
    dryRun || pid === null
      ? yield* preview(pid, distinct, existing)
      : yield* (yield* LinkStore).importBatch({
          ...operatorOrigin(),
          pid,
          at: yield* Clock.currentTimeMillis,
          links: distinct,
          existing,
          progress,
        });
  tally.inserted += imported.inserted;
  tally.replaced += imported.replaced + (existing === "replace" ? repeated : 0);
  tally.kept += imported.kept + (existing === "keep" ? repeated : 0);
});

/** One link per chat user, as across batches: the first one, or the last one if it replaces. */
const onePerChatUser = (
  links: ReadonlyArray<PortableLink>,
  existing: ImportBatch["existing"],
): ReadonlyArray<PortableLink> => {
  const byChatUser = new Map<ChatId, PortableLink>();
  for (const link of links) {
    if (existing === "replace" || !byChatUser.has(link.chatId)) byChatUser.set(link.chatId, link);
  }
  return [...byChatUser.values()];
};

/** What `importBatch` would do with links of different chat users. */
const preview = Effect.fnUntraced(function* (
  pid: Pid | null,
  links: ReadonlyArray<PortableLink>,
  existing: ImportBatch["existing"],
): Effect.fn.Return<BatchImported, StoreUnavailable, LinkStore> {
  const records =
    pid === null
      ? new Map<ChatId, LinkRecord>()
      : yield* (yield* LinkStore).findByChatIds(
          pid,
          links.map(({ chatId }) => chatId),
        );
  const differs = ({ chatId, gameId, lastVerifiedAt }: PortableLink): boolean => {
    const record = records.get(chatId);
    return record !== undefined && (record.gameId !== gameId || record.lastVerifiedAt !== lastVerifiedAt);
  };
  const replaced = existing === "keep" ? 0 : links.filter(differs).length;
  return { inserted: links.length - records.size, replaced, kept: records.size - replaced };
});

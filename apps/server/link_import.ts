/**
 * Importing links from a file, in batches and in constant memory.
 *
 * A file is read twice: first it is checked, so that one with a wrong line stores nothing, and hashed; then its links
 * are stored. The hash, with the scope and the way of importing, names the import, under which the store remembers
 * after which line the last batch ended. So an import that was cut off goes on there, one that is done is not done
 * again, and a file that was changed in between is another import. Standard input can be read once only: its lines are
 * stored as they come, and it is not remembered.
 */
import { createHash } from "node:crypto";
import {
  type BatchImported,
  type ChatId,
  type ImportBatch,
  type LinkRecord,
  LinkStore,
  type Millis,
  type Pid,
  type PortableLink,
  type StoreUnavailable,
} from "@accountlink/core";
import { Array as Arr, Clock, Data, Effect, Stream } from "effect";
import { operatorOrigin } from "./internal/operator.ts";
import type { ShowProgress } from "./internal/progress.ts";
import { type LinkFormat, type LinkLine, parseLinkLines } from "./link_files.ts";

/** Links in a batch, which is one transaction. A running server writes between two of them. */
export const batchSize = 20_000;

/** Wrong lines that are told one by one; the others are counted. */
const toldProblems = 10;

/** Where links come from. */
export interface LinkSource<E> {
  readonly bytes: Stream.Stream<Uint8Array, E>;
  readonly format: LinkFormat;
  /** The size in bytes of what can be read again; null for what comes once. */
  readonly size: number | null;
}

/** How links are imported. */
export interface ImportOptions {
  readonly existing: ImportBatch["existing"];
  /** Stores nothing and counts what would be. */
  readonly dryRun: boolean;
  /** Leaves out wrong lines. */
  readonly skipInvalid: boolean;
  /** Forgets how far an import of the same file came. */
  readonly fromStart: boolean;
}

export interface WrongLine {
  readonly line: number;
  readonly problem: string;
}

/** What an import did. */
export interface ImportOutcome extends BatchImported {
  /** Links in the file, those of wrong lines not among them. */
  readonly links: number;
  readonly refused: number;
  /** The first of the wrong lines. */
  readonly problems: ReadonlyArray<WrongLine>;
  /** The line after which an import that was cut off went on; 0 for one that began. */
  readonly resumedAfter: number;
  /** Whether an earlier import had stored all of the file. */
  readonly doneBefore: boolean;
}

/** Lines are wrong, and the import was not told to leave them out. */
export class WrongLines extends Data.TaggedError("WrongLines")<{
  readonly count: number;
  /** The first of them. */
  readonly problems: ReadonlyArray<WrongLine>;
  /** Links that had been stored before the wrong lines were read. */
  readonly stored: number;
}> {}

/**
 * Imports links. Each batch leaves its entry in the audit log.
 *
 * `findScope` is run once the file was found to be right. A dry run may give null, for a scope that is yet to be made.
 *
 * Fails with `WrongLines` when lines are wrong, with `UnreadableLinkFile` when the file cannot be read to its end, and
 * with what `bytes` fails with.
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

/** Counts the lines and gives the links in them. */
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

/** Two scopes, or two ways of importing, are two imports. */
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

/** Of lines that name one chat user, in a batch as across batches: the first is kept, or the last replaces it. */
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

/** What `importBatch` would do with these, none of which name the same chat user. */
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

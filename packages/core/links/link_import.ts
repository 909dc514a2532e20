/**
 * Imports of links, in batches and in constant memory.
 *
 * A file is read twice: first to check every line and to hash it, then to store its links. The
 * hash, the scope and the options identify the import, for which the store keeps the last line of
 * the last batch. So an interrupted import is resumed, a completed one is not repeated, and a
 * changed file is another import. A pipe can be read only once: its lines are stored as they
 * arrive, and it cannot be resumed.
 */
import { Array as Arr, Clock, Data, Effect, Stream } from "effect";
import { Digest } from "effect/crypto";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { LinkLine, WrongLine } from "./formats/link_format.ts";
import type { LinkRecord } from "./link.ts";
import { type BatchImported, type ImportBatch, LinkStore, type PortableLink } from "./link_store.ts";

/**
 * The number of lines in a batch, whose links are one transaction. A running server writes between
 * batches.
 *
 * @internal
 */
export const batchSize = 20_000;

/** The number of wrong lines that are reported in full; others are counted. */
const reportedProblems = 10;

/** Where links come from, such as a file in one of `linkFormats`. */
export interface LinkSource<E = never, R = never> {
  readonly lines: Stream.Stream<LinkLine, E, R>;
  /** Whether the stream begins anew each time that it runs, as that of a file does. */
  readonly isRepeatable: boolean;
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
  /** What to do with a chat user who has a record; `keep` if left out. */
  readonly existing?: ImportBatch["existing"];
  /** Stores nothing, and counts what would be stored. */
  readonly dryRun?: boolean;
  /** Skips wrong lines. Without it, a single one is `WrongLines`. */
  readonly skipInvalid?: boolean;
  /** Ignores the progress of an earlier import of the same file. */
  readonly fromStart?: boolean;
}

const defaults = { existing: "keep", dryRun: false, skipInvalid: false, fromStart: false } as const;

/** How far an import is. */
export interface ImportProgress {
  readonly phase: "checking" | "importing";
  readonly lines: number;
  /** The number of all lines; null if unknown. */
  readonly total: number | null;
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
 * @param onProgress runs after each batch
 *
 * @example
 * ```ts
 * import { Pid } from "@accountlink/core";
 * import { KeyStore } from "@accountlink/core/keys";
 * import type { ImportOutcome, LinkSource, UnreadableLinkFile } from "@accountlink/core/links";
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import { Effect, Layer, Stream } from "effect";
 * import { Digest } from "effect/crypto";
 *
 * const pid = Pid.make("pid_0123456789abcdefghij");
 * const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;
 * const file = Stream.encodeText(Stream.make("chatId,gameId\n", "100001,1\n"));
 * const source: LinkSource<UnreadableLinkFile> = { lines: linkFormats.csv.read(file), isRepeatable: true };
 * const program = Effect.gen(function* () {
 *   const keys = yield* KeyStore;
 *   yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
 *   yield* keys.ensureScope("acme", { kind: "global" }, pid);
 *   const outcome: ImportOutcome = yield* importLinks(source, { findScope: Effect.succeed(pid), origin });
 *   return [outcome.inserted, (yield* Stream.runCollect(allLinks(pid))).map(({ gameId }) => gameId)];
 * });
 * const layer = Layer.merge(StorageMemory.layer, Digest.layerWebCrypto);
 * await Effect.runPromise(Effect.provide(program, layer)); // [1, ["1"]]
 * ```
 */
export const importLinks = Effect.fn("importLinks")(function* <E, R, E2, R2>(
  source: LinkSource<E, R>,
  { findScope, origin }: ImportTarget<E2, R2>,
  options: ImportOptions = {},
  onProgress: (progress: ImportProgress) => Effect.Effect<void> = () => Effect.void,
) {
  const { existing, dryRun, skipInvalid, fromStart } = { ...defaults, ...options };
  const check = source.isRepeatable ? yield* checkLines(source, onProgress) : null;
  if (check !== null && check.refused > 0 && !skipInvalid) {
    return yield* new WrongLines({ count: check.refused, problems: check.problems, stored: 0 });
  }
  const pid = yield* findScope;
  // The same file in another scope or with other options is another import.
  const name = check === null || pid === null || dryRun ? null : `file:${pid}:${existing}:${check.hash}`;
  const resumedAfter = name === null || fromStart ? 0 : yield* (yield* LinkStore).importPosition(name);
  const tally = emptyTally();
  if (check !== null && resumedAfter > 0 && resumedAfter >= check.lastLine) {
    return { ...tally, links: check.links, resumedAfter, doneBefore: true } satisfies ImportOutcome;
  }
  const batch = { pid, existing, dryRun, skipInvalid, origin, name };
  const now = yield* Clock.currentTimeMillis;
  yield* source.lines.pipe(
    Stream.dropWhile(({ line }) => line <= resumedAfter),
    Stream.rechunk(batchSize),
    Stream.runForEachArray(
      Effect.fnUntraced(function* (lines: Arr.NonEmptyReadonlyArray<LinkLine>) {
        yield* takeBatch(lines, tally, batch, now);
        const done = Arr.lastNonEmpty(lines).line;
        yield* onProgress({ phase: "importing", lines: done, total: check?.lastLine ?? null });
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
const takeLines = (
  lines: ReadonlyArray<LinkLine>,
  tally: Tally,
  now: Millis,
): ReadonlyArray<PortableLink> => {
  const links: Array<PortableLink> = [];
  for (const read of lines) {
    if ("link" in read) {
      const { chatId, gameId, lastVerifiedAt } = read.link;
      links.push({ chatId, gameId, lastVerifiedAt: lastVerifiedAt ?? now });
    } else {
      tally.refused++;
      if (tally.problems.length < reportedProblems) tally.problems.push(read);
    }
  }
  tally.links += links.length;
  return links;
};

const checkLines = Effect.fnUntraced(function* <E, R>(
  { lines }: LinkSource<E, R>,
  onProgress: (progress: ImportProgress) => Effect.Effect<void>,
) {
  const digest = yield* Digest.Digest;
  const tally = emptyTally();
  let hash = "";
  let lastLine = 0;
  yield* lines.pipe(
    Stream.rechunk(batchSize),
    Stream.runForEachArray(
      Effect.fnUntraced(function* (batch: Arr.NonEmptyReadonlyArray<LinkLine>) {
        takeLines(batch, tally, 0);
        // A digest takes its whole input at once, so each batch is hashed together with the hash of those before.
        const text = `${hash}\n${batch.map(textOf).join("\n")}`;
        hash = yield* digest.digestHex(Digest.sha256, new TextEncoder().encode(text));
        lastLine = Arr.lastNonEmpty(batch).line;
        yield* onProgress({ phase: "checking", lines: lastLine, total: null });
      }),
    ),
  );
  return { links: tally.links, refused: tally.refused, problems: tally.problems, lastLine, hash };
});

const textOf = (read: LinkLine): string =>
  "link" in read
    ? `${read.line} ${read.link.chatId} ${read.link.gameId} ${read.link.lastVerifiedAt}`
    : `${read.line} ${read.problem}`;

interface BatchOptions {
  readonly pid: Pid | null;
  readonly existing: ImportBatch["existing"];
  readonly dryRun: boolean;
  readonly skipInvalid: boolean;
  readonly origin: WriteOrigin;
  readonly name: string | null;
}

const takeBatch = Effect.fnUntraced(function* (
  lines: Arr.NonEmptyReadonlyArray<LinkLine>,
  tally: Tally,
  { pid, existing, dryRun, skipInvalid, origin, name }: BatchOptions,
  now: Millis,
) {
  const links = takeLines(lines, tally, now);
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
          ...origin,
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

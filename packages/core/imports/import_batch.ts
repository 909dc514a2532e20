/** Stores one batch of an import, or computes what storing it would change. */
import { type Array as Arr, Clock, Data, Effect } from "effect";
import { type BlockPlace, BlockStore, mostBlocks, type StoredBlock } from "../admission/block_store.ts";
import type { WriteOrigin } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { isLinked, isOrWasLinked, type LinkRecord } from "../links/link.ts";
import type { LinkRoom } from "../links/link_cap.ts";
import { LinkStore } from "../links/link_store.ts";
import type { Millis } from "../timestamp.ts";
import type { FileLink, LeftOutLine, LinkLine } from "./formats/link_format.ts";
import { leaveOut } from "./formats/row.ts";
import type { Tally } from "./import_outcome.ts";
import {
  type BatchImported,
  type ImportableLink,
  type ImportBatch,
  type ImportedFile,
  type ImportHolder,
  ImportStore,
  noneImported,
} from "./import_store.ts";
import { importEffect, importedRecord } from "./imported_record.ts";

/** How many chat users a dry run remembers, to notice those who occur again in later batches. */
const maxStaged = 100_000;

/** A chat user whose link an import changes. */
export interface LinkChange {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Null if the chat user's link was removed before the import. */
  readonly previousGameId: GameId | null;
}

/**
 * With `strict`, the file has at least one wrong row. Without `strict`, the file has wrong rows and not a single link, or
 * a program has rounded so many of its chat IDs that it is not by chance.
 */
export class WrongLines extends Data.TaggedError("WrongLines")<{
  readonly count: number;
  /** The first wrong rows. */
  readonly problems: ReadonlyArray<LeftOutLine>;
  /** The number of links in the batches that were stored before the failure. */
  readonly stored: number;
  /** Whether the problems are rounded chat IDs. */
  readonly isRounded?: true;
}> {
  readonly code = "WRONG_LINES";
  readonly details = { count: this.count, problems: this.problems, stored: this.stored };
  override readonly message = `Cannot import line ${this.problems[0]?.line}: ${this.problems[0]?.problem}`;
}

/**
 * The data of the scope was deleted during the import, which would bring back a part of it. Or an import of the scope is
 * being undone, which would take back links that the file has too.
 */
export class ImportEnded extends Data.TaggedError("ImportEnded")<{
  readonly reason: keyof typeof endings;
}> {
  readonly code = "IMPORT_ENDED";
  readonly details = { reason: this.reason };
  override readonly message: string = endings[this.reason];
}

const endings = {
  deleted:
    "Cannot import the rest of the file: the data of the scope was deleted meanwhile, with the links that were stored before",
  undo: "Cannot import the file: another import of the scope is being undone, expected its end first",
} as const;

export interface BatchOptions {
  readonly pid: Pid | null;
  readonly onConflict: ConflictChoice;
  readonly dryRun: boolean;
  readonly strict: boolean;
  readonly origin: WriteOrigin;
  readonly file: ImportedFile | undefined;
  readonly holder: ImportHolder | undefined;
  readonly name: string | null;
  /** The records that a dry run would have stored so far. */
  readonly staged: Map<ChatId, LinkRecord>;
  /** The last chat user of each game user in a dry run so far, in a scope that allows one. */
  readonly stagedUsers: Map<GameId, ChatId>;
  readonly resumedAfter: number;
  /** The room for new links; undefined without a cap. */
  readonly room: LinkRoom["use"] | undefined;
  /** Hashes a chat user, to find the block of an erased one; undefined if such blocks are not looked for. */
  readonly chatHash: ChatHash | undefined;
  readonly blocks: KnownBlocks;
  /** Whether the scope allows one chat user for each game user. */
  readonly oneChatUser: boolean;
}

/** The blocks of the scope, which an import reads anew if the newest one has changed. Stores check them once more. */
export interface KnownBlocks {
  newest: BlockPlace | undefined;
  readonly all: Array<StoredBlock>;
}

export const noBlocks = (): KnownBlocks => ({ newest: undefined, all: [] });

/** Returns the hash by which `BlockStore` knows a chat user. */
export type ChatHash = (pid: Pid, chatId: ChatId) => Effect.Effect<string>;

/**
 * Stores the links of a batch; a dry run only computes what would change. Returns the left-out rows and, in a dry run,
 * the changed links.
 */
export const takeBatch = Effect.fnUntraced(function* (
  rows: Arr.NonEmptyReadonlyArray<LinkLine>,
  tally: Tally,
  options: BatchOptions,
  now: Millis,
) {
  const { pid, onConflict, dryRun, strict, origin, file, holder, name, resumedAfter } = options;
  const { links: found, leftOut: unusable } = sortRows(rows, onConflict);
  const blocked = yield* blockedAmong(found, options);
  const admitted = found.filter((link) => !blocked.has(link));
  const taken = yield* takenAmong(admitted, options);
  const links = admitted.filter((link) => !taken.has(link));
  const leftOut = [...unusable, ...[...blocked].map(ofBlocked), ...[...taken].map(ofTaken)].toSorted(
    (one, other) => one.line - other.line,
  );
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
  const store = Effect.fnUntraced(function* (part: Pick<ImportBatch, "links" | "existing" | "progress">) {
    if (part.links.length === 0 && part.progress === null) return noneImported;
    if (dryRun || pid === null) return yield* preview(part, options, changed);
    const at = yield* Clock.currentTimeMillis;
    const begun = { holder, file, isContinued: tally.isBegun };
    const write = { ...origin, ...part, ...begun, pid, at, proof: "import" } as const;
    const stored = yield* (yield* ImportStore).importBatch(write);
    if (stored.isEnded === true) return yield* new ImportEnded({ reason: "deleted" });
    tally.isBegun = file !== undefined;
    return stored;
  });
  const { room = unlimited } = options;
  const stored = yield* room(
    tally.isFull ? 0 : links.length,
    Effect.fnUntraced(function* (reserved) {
      const wanted = links.map(
        ({ chatId, gameId, lastVerifiedAt }): ImportableLink =>
          lastVerifiedAt === null
            ? { chatId, gameId, lastVerifiedAt: now, isUntimed: true }
            : { chatId, gameId, lastVerifiedAt },
      );
      const batch = { links: wanted, existing: onConflict };
      const { fitting, end } = yield* fit(batch, reserved, tally.changesLeft, options);
      tally.isFull ||= end === "link_limit";
      tally.isEnded ||= end !== null;
      // The rows that are left are read again when the same file is imported again.
      const progress = name === null || tally.isEnded ? null : { source: name, position };
      const counts = yield* store({ ...batch, links: wanted.slice(0, fitting), progress });
      return { fitting, counts, end: end ?? "link_limit" };
    }),
  );
  tally.add(stored.counts);
  for (const link of links.slice(stored.fitting)) {
    const row = beyondPlan(link, stored.end);
    tally.leaveOut(row);
    leftOut.push(row);
  }
  return { leftOut, changed };
});

const blockedAmong = Effect.fnUntraced(function* (
  links: ReadonlyArray<PlacedLink>,
  { pid, chatHash, blocks: known }: BatchOptions,
): Effect.fn.Return<ReadonlySet<PlacedLink>, StoreUnavailable, BlockStore> {
  const blocks = pid === null ? [] : yield* blocksOf(pid, known);
  const chatIds = new Set(blocks.map(({ chatId }) => chatId));
  const gameIds = new Set(blocks.map(({ gameId }) => gameId));
  const erased = new Set(
    blocks.filter(({ chatId, gameId }) => (chatId ?? gameId) === null).map(({ hash }) => hash),
  );
  const blocked = links.filter(({ chatId, gameId }) => chatIds.has(chatId) || gameIds.has(gameId));
  if (pid === null || chatHash === undefined || erased.size === 0) return new Set(blocked);
  const hashes = yield* Effect.forEach(links, ({ chatId }) => chatHash(pid, chatId));
  return new Set([...blocked, ...links.filter((_, index) => erased.has(hashes[index] ?? ""))]);
});

/** Returns the new links whose game user another chat user has, in a scope that allows one. */
const takenAmong = Effect.fnUntraced(function* (
  links: ReadonlyArray<PlacedLink>,
  { pid, oneChatUser, staged, stagedUsers }: BatchOptions,
): Effect.fn.Return<ReadonlySet<PlacedLink>, StoreUnavailable, LinkStore> {
  if (pid === null || !oneChatUser) return new Set();
  const store = yield* LinkStore;
  const holders = yield* store.findByGameIds(pid, [...new Set(links.map(({ gameId }) => gameId))], 2);
  const chatIds = links.map(({ chatId }) => chatId);
  const records = yield* store.findByChatIds(pid, chatIds);
  const taken = new Set<PlacedLink>();
  const takenInBatch = new Set<GameId>();
  for (const link of links) {
    const { chatId, gameId } = link;
    if ((staged.get(chatId) ?? records.get(chatId))?.gameId === gameId) continue;
    // Earlier batches of a dry run may have given a holder another game user.
    const isOther = (id: ChatId) => id !== chatId && (staged.get(id)?.gameId ?? gameId) === gameId;
    const known = [...(holders.get(gameId) ?? []), stagedUsers.get(gameId) ?? chatId];
    if (takenInBatch.has(gameId) || known.some(isOther)) taken.add(link);
    else takenInBatch.add(gameId);
  }
  return taken;
});

const ofTaken = (link: PlacedLink) =>
  leaveOut(link, "game_taken", `another chat user than ${link.chatId} has game user ${link.gameId}`);

const blocksOf = Effect.fnUntraced(function* (pid: Pid, known: KnownBlocks) {
  const store = yield* BlockStore;
  const [newest] = yield* store.page(pid, null, 1);
  if (newest?.hash !== known.newest?.hash || newest?.at !== known.newest?.at) {
    known.all.splice(0, Infinity, ...(yield* store.page(pid, null, mostBlocks)));
    known.newest = newest;
  }
  return known.all;
});

const ofBlocked = (link: PlacedLink) =>
  leaveOut(link, "blocked", `chat user ${link.chatId} or game user ${link.gameId} is blocked`);

const unlimited: LinkRoom["use"] = (wanted, write) => write(wanted);

/** Returns how many links fit before the first for which no room was reserved, or that is one change too many. A chat
 * user who has a link needs no room. */
const fit = Effect.fnUntraced(function* (
  { links, existing }: Pick<ImportBatch, "links" | "existing">,
  reserved: number,
  changes: number,
  { pid, staged }: BatchOptions,
) {
  const all = { fitting: links.length, end: null };
  if (Math.min(reserved, changes) >= links.length || pid === null) return all;
  const chatIds = links.map(({ chatId }) => chatId);
  const records = yield* (yield* LinkStore).findByChatIds(pid, chatIds);
  let [room, left] = [reserved, changes];
  for (const [fitting, link] of links.entries()) {
    const record = staged.get(link.chatId) ?? records.get(link.chatId);
    if ((record === undefined || !isLinked(record)) && room-- === 0)
      return { fitting, end: "link_limit" as const };
    const isChange = importedRecord(record, link, { existing, proof: "import" }) !== record;
    if (isChange && left-- === 0) return { fitting, end: "import_day" as const };
  }
  return all;
});

const limits = {
  link_limit: "the account has as many links as its plan allows",
  import_day: "imports of the account have changed as many links as they may in a day",
} as const;

const beyondPlan = (link: PlacedLink, reason: keyof typeof limits) =>
  leaveOut(link, reason, `chat user ${link.chatId} is left: ${limits[reason]}`);

/** Returns one link for each chat user of a batch, and the rows to leave out. */
export const sortRows = (rows: ReadonlyArray<LinkLine>, onConflict: ConflictChoice) => {
  const leftOut: Array<LeftOutLine> = [];
  const byChatUser = new Map<ChatId, PlacedLink>();
  for (const row of rows) {
    if (!("link" in row)) {
      leftOut.push(row);
      continue;
    }
    const next = { line: row.line, text: row.text, ...row.link };
    const last = byChatUser.get(next.chatId);
    const chosen = last === undefined ? next : choose(last, next, onConflict);
    if (last !== undefined) leftOut.push(repeatProblem(chosen === next ? last : next, chosen));
    byChatUser.set(next.chatId, chosen);
  }
  const links = [...byChatUser.values()];
  return { links, leftOut: leftOut.toSorted((one, other) => one.line - other.line) };
};

/** Computes what `importBatch` would do with links of different chat users. Adds the links that change to `changed`. */
const preview = Effect.fnUntraced(function* (
  { links, existing }: Pick<ImportBatch, "links" | "existing">,
  { pid, staged, stagedUsers, oneChatUser }: BatchOptions,
  changed: Array<LinkChange>,
): Effect.fn.Return<BatchImported, StoreUnavailable, LinkStore> {
  const chatIds = links.map(({ chatId }) => chatId);
  const records =
    pid === null ? new Map<ChatId, never>() : yield* (yield* LinkStore).findByChatIds(pid, chatIds);
  const counts = { ...noneImported };
  for (const link of links) {
    const record = staged.get(link.chatId) ?? records.get(link.chatId);
    const next = importedRecord(record, link, { existing, proof: "import" });
    counts[importEffect(record, next, link)]++;
    if (record !== undefined && isOrWasLinked(record) && record.gameId !== next.gameId) {
      changed.push({ chatId: link.chatId, gameId: link.gameId, previousGameId: record.gameId });
    }
    if (staged.size >= maxStaged) continue;
    staged.set(link.chatId, next);
    if (oneChatUser && next.gameId !== null) stagedUsers.set(next.gameId, link.chatId);
  }
  return counts;
});

/**
 * Which of two links of one chat user counts: the first (`keep`), the second (`replace`), or the one that was verified
 * last (`newest`).
 */
export type ConflictChoice = "keep" | "replace" | "newest";

export interface PlacedLink extends FileLink {
  /** The line of the row in its file. JSON may have several rows on one line. */
  readonly line: number;
  readonly text: string;
}

const mainness = ({ isPrimary }: PlacedLink): number => (isPrimary === undefined ? 0 : isPrimary ? 1 : -1);

/** Returns which of two links of one chat user counts. `first` comes before `second` in the file. */
const choose = (first: PlacedLink, second: PlacedLink, onConflict: ConflictChoice): PlacedLink => {
  const rank = mainness(first) - mainness(second);
  if (rank !== 0) return rank > 0 ? first : second;
  if (onConflict !== "newest") return onConflict === "keep" ? first : second;
  return (second.lastVerifiedAt ?? -Infinity) > (first.lastVerifiedAt ?? -Infinity) ? second : first;
};

/** Returns the report of a link that is left out because another link of the same chat user counts. */
const repeatProblem = (link: PlacedLink, counting: PlacedLink): LeftOutLine => {
  const { chatId, gameId } = link;
  if (gameId === counting.gameId)
    return leaveOut(link, "repeated", `chat user ${chatId} has the same link on line ${counting.line}`);
  const problem = `chat user ${chatId} is linked to ${gameId} here and to ${counting.gameId} on line ${counting.line}, which counts`;
  return leaveOut(link, "conflict", problem);
};

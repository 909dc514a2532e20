/** What imports did to links, for their audit entries and their undo. */
import { Effect, Schema } from "effect";
import type { StoreEffect, StoreUnavailable } from "../errors.ts";
import { ChatId, GameId, Pid } from "../ids.ts";
import { type JournalRecord, linksImported } from "../journal/mod.ts";
import type { LinkRecord } from "../links/link.ts";
import { gameProofs } from "../links/link_proof.ts";
import type { PortableLink } from "../links/link_store.ts";
import { type RecordOf, recordType, type Tx } from "../records/mod.ts";
import {
  type BatchImported,
  type ImportBatch,
  type ImportedFile,
  importCounts,
  noneImported,
  sumOf,
  undoableFor,
} from "./import_store.ts";
import { dropRunning } from "./upload_store.ts";

/** What the batches of one file did, and its undo. @internal */
export const linkImports = recordType({
  name: "link_imports",
  fields: {
    id: Schema.String,
    pid: Pid,
    /** The name of the file. */
    name: Schema.String,
    importedAt: Schema.Int,
    /** The time from which its undo can't begin; 0 once the data of its scope was deleted. */
    endsAt: Schema.Int,
    ...importCounts,
    /** The sequence of its audit entry; null before the first changed record. */
    entry: Schema.NullOr(Schema.Int),
    /** The sequence of the audit entry of its undo; null before the undo has begun. */
    undoEntry: Schema.NullOr(Schema.Int),
    removed: Schema.Int,
    restored: Schema.Int,
    /** The time of the last step of its undo; null before the undo has begun. Records of earlier releases lack it. */
    undoneAt: Schema.NullOr(Schema.Int),
  },
  key: ["id"],
  indexes: {
    byScope: { fields: ["pid", "-importedAt", "id"], group: 1 },
    undone: { fields: ["endsAt", "undoEntry", "id"] },
  },
  isOfAccount: true,
});

/** @internal */
export type LinkImport = RecordOf<typeof linkImports>;

/** What an import did to the link of a chat user. @internal */
export const importedLinks = recordType({
  name: "import_links",
  fields: {
    importId: Schema.String,
    chatId: ChatId,
    gameId: GameId,
    linkVersion: Schema.Int,
    verifiedAt: Schema.Int,
    previousGameId: Schema.NullOr(GameId),
    /** Null if it is not known. */
    previousLinkedAt: Schema.NullOr(Schema.Int),
    /** Null if the user was never linked. */
    previousVerifiedAt: Schema.NullOr(Schema.Int),
    previousProof: Schema.NullOr(Schema.Literals([...gameProofs, "hand", "import"])),
    previousProvenAt: Schema.NullOr(Schema.Int),
  },
  key: ["importId", "chatId"],
  group: 1,
  indexes: { byUser: { fields: ["chatId", "importId"], group: 1 } },
});

/** @internal */
export type ImportedLink = RecordOf<typeof importedLinks>;

/** Finds what imports into these scopes did to the links of a chat user. @internal */
export const importsOf = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId, pids: ReadonlyArray<Pid>) {
  const imports = yield* tx.listAll(
    linkImports.byScope,
    pids.map((pid) => [pid]),
  );
  const keys = imports.map(({ id }) => [id, chatId]);
  const links = new Map((yield* tx.getAll(importedLinks, keys)).map((link) => [link.importId, link]));
  return imports.flatMap(({ id, pid }) => {
    const link = links.get(id);
    return link === undefined ? [] : [{ ...link, pid }];
  });
});

/** The users of a link that a write would make. */
interface LinkUsers {
  readonly chatId: ChatId;
  readonly gameId: GameId;
}

/** A transaction over imports, and over links, which storages keep in forms of their own. @internal */
export interface ImportTx extends Tx {
  readonly records: (
    pid: Pid,
    chatIds: ReadonlyArray<ChatId>,
  ) => StoreEffect<ReadonlyMap<ChatId, LinkRecord>>;
  readonly putRecords: (pid: Pid, records: ReadonlyArray<LinkRecord>) => StoreEffect<unknown>;
  /** Leaves out links that name a blocked user. */
  readonly unblocked: <L extends LinkUsers>(
    pid: Pid,
    links: ReadonlyArray<L>,
  ) => StoreEffect<ReadonlyArray<L>>;
  /**
   * In a scope that allows one chat user, returns the links whose game users other chat users have: by the chat user of
   * each link, the newest other chat user who is not in `leaving`. Of several links that give the same game user, the
   * later ones have the chat user of the first one.
   */
  readonly holders: (
    pid: Pid,
    links: ReadonlyArray<LinkUsers>,
    leaving: ReadonlyArray<ChatId>,
  ) => StoreEffect<ReadonlyMap<ChatId, ChatId>>;
  /**
   * Stores a part of a change that several transactions make: an event for each, and one entry, whose details the later
   * parts replace. Returns the sequence of the entry; null without one.
   *
   * @param first the sequence of the entry; null for the first part
   * @param isTold whether this part changed anything
   */
  readonly journalPart: (
    pid: Pid,
    part: JournalRecord,
    first: number | null,
    isTold: boolean,
  ) => StoreEffect<number | null>;
  /** How many links a write undoes at most. */
  readonly mostUndone: number;
}

/** The body of a transaction. It may run several times. @internal */
export type ImportTxBody<A> = (tx: ImportTx) => StoreEffect<A> | Effect.fn.Return<A, StoreUnavailable>;

/**
 * Begins a part of a batch: returns the stored import of its file, and the links that the scope admits. Returns null if
 * the data of the scope was deleted since an earlier part. @internal
 */
export const beginPart = Effect.fnUntraced(function* (
  tx: ImportTx,
  { pid, file }: ImportBatch,
  links: ReadonlyArray<PortableLink>,
  isContinued: boolean,
) {
  const stored = file && (yield* tx.get(linkImports, file.id));
  if (isContinued && (stored === undefined || stored.endsAt === 0)) return null;
  const unblocked = yield* tx.unblocked(pid, links);
  const holders = yield* tx.holders(pid, unblocked, []);
  const held = unblocked.filter(({ chatId }) => holders.has(chatId)).map(({ chatId }) => chatId);
  const records = held.length === 0 ? new Map<ChatId, LinkRecord>() : yield* tx.records(pid, held);
  // A link that is there is no second one, whoever else has its game user.
  const isTaken = ({ chatId, gameId }: PortableLink) =>
    holders.has(chatId) && records.get(chatId)?.gameId !== gameId;
  return { stored, links: unblocked.filter((link) => !isTaken(link)) };
});

/** Adds the counts of a part to the stored import of its file, and to the audit entry. @internal */
export const logPart = Effect.fnUntraced(function* (
  tx: ImportTx,
  batch: ImportBatch,
  { id, name }: ImportedFile,
  stored: LinkImport | undefined,
  part: BatchImported,
) {
  const { pid, at } = batch;
  const begun = { id, pid, name, importedAt: at, endsAt: at + undoableFor };
  const none = { ...noneImported, entry: null, undoEntry: null, removed: 0, restored: 0, undoneAt: null };
  const before: LinkImport = stored ?? { ...begun, ...none };
  const counts = sumOf(before, part);
  const count = part.inserted + part.replaced;
  const told = linksImported(batch, count, { file: name, ...counts });
  const entry = yield* tx.journalPart(pid, told, before.entry, count > 0);
  yield* tx.put(linkImports, { ...before, ...counts, entry });
});

/** How many imports of a scope its deletion ends in any case: more than those that `sweep` leaves links to undo. */
const mostEnded = 10;

/** Ends the imports of a scope whose data is deleted: the running one, and the undo of all. @internal */
export const endImports = Effect.fnUntraced(function* (tx: Tx, pid: Pid) {
  yield* dropRunning(tx, pid);
  const open = (yield* tx.list(linkImports.byScope, [pid])).filter(({ endsAt }) => endsAt > 0);
  for (const [index, one] of open.entries()) {
    if (index >= mostEnded && tx.isFull()) return;
    yield* tx.put(linkImports, { ...one, endsAt: 0 });
  }
});

/** What imports did to links, for their audit entries and their undo. */
import { Effect, Schema } from "effect";
import type { StoreEffect, StoreUnavailable } from "../errors.ts";
import { ChatId, GameId, Pid } from "../ids.ts";
import type { JournalRecord } from "../journal/mod.ts";
import type { LinkRecord } from "../links/link.ts";
import { gameProofs } from "../links/link_proof.ts";
import { type RecordOf, recordType, type Tx } from "../records/mod.ts";
import { importCounts } from "./import_store.ts";
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

/**
 * Adjusts what imports did to a link that was put back: its version has grown by two since its removal. Otherwise their
 * undo takes the link for one that somebody has changed. @internal
 */
export const followRestored = Effect.fnUntraced(function* (
  tx: Tx,
  pid: Pid,
  { chatId, linkVersion }: Pick<LinkRecord, "chatId" | "linkVersion">,
) {
  const made = yield* importsOf(tx, chatId, [pid]);
  const earlier = made.filter((one) => one.linkVersion <= linkVersion - 2);
  yield* tx.putAll(
    importedLinks,
    earlier.map(({ pid: _, ...one }) => ({ ...one, linkVersion: one.linkVersion + 2 })),
  );
});

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

/** The rules by which an import and its undo change a link record. Stores apply them to a record that they have locked. */
import { isLinked, isOrWasLinked, type LinkRecord, noTime } from "../links/link.ts";
import { confirmedRecord, linkedRecord } from "../links/link_changes.ts";
import type { PortableLink } from "../links/link_store.ts";
import type { Millis } from "../timestamp.ts";
import type { BatchImported, ImportBatch } from "./import_store.ts";

/**
 * Returns a chat user's record after an import. If the import changes nothing, returns the given `record` itself.
 * @internal
 */
export const importedRecord = (
  record: LinkRecord | undefined,
  { chatId, gameId, lastVerifiedAt }: PortableLink,
  { existing, proof }: Pick<ImportBatch, "existing" | "proof">,
): LinkRecord => {
  if (record !== undefined && isOrWasLinked(record) && existing !== "replace") {
    const isNewer = lastVerifiedAt > Math.max(record.linkedAt, record.lastVerifiedAt);
    if (existing === "keep" || !isNewer) return record;
  }
  if (record === undefined || !isLinked(record) || record.gameId !== gameId) {
    return linkedRecord(chatId, record, gameId, lastVerifiedAt, proof);
  }
  return record.lastVerifiedAt === lastVerifiedAt ? record : confirmedRecord(record, lastVerifiedAt, proof);
};

/** Returns the name of the count in `BatchImported` that an imported record increases. @internal */
export const importEffect = (
  record: LinkRecord | undefined,
  next: LinkRecord,
  { gameId }: PortableLink,
): keyof BatchImported => {
  if (record === undefined || !isOrWasLinked(record)) return "inserted";
  if (next !== record) return "replaced";
  return record.gameId === gameId ? "unchanged" : "kept";
};

/** Returns the items whose key no item before them has. All without a key are among them. @internal */
export const firstOfEach = <A>(
  items: ReadonlyArray<A>,
  keyOf: (item: A) => string | null,
): ReadonlyArray<A> => {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    return key === null || seen.size < seen.add(key).size;
  });
};

/** A record as an import left it. @internal */
export type MadeRecord = Pick<LinkRecord, "gameId" | "linkVersion" | "lastVerifiedAt">;

/** The part of a record that an undo restores. @internal */
export type RecordBefore = Pick<LinkRecord, "gameId" | "lastVerifiedAt" | "proof" | "provenAt"> & {
  /** Imports of earlier releases lack it. */
  readonly linkedAt?: Millis;
};

/** Whether a batch found a record as an earlier batch of its import had left it. @internal */
export const isSameImport = (made: MadeRecord, record: LinkRecord): boolean =>
  made.gameId === record.gameId && made.lastVerifiedAt === record.lastVerifiedAt;

/** Whether nobody has changed a record since its import. @internal */
export const isUntouched = (made: MadeRecord, record: LinkRecord | undefined): record is LinkRecord =>
  record !== undefined && isSameImport(made, record) && made.linkVersion === record.linkVersion;

/**
 * Returns an imported record after the undo of its import. `before` is undefined if the import made the record, which
 * then says that the user was never linked. Only the version does not go back. @internal
 */
export const undoneRecord = (
  record: LinkRecord,
  before: RecordBefore = { gameId: null, lastVerifiedAt: 0, proof: record.proof, linkedAt: noTime },
  at: Millis,
): LinkRecord => {
  const { gameId } = before;
  const isSame = gameId === record.gameId;
  const { provenAt: _, ...rest } = record;
  return {
    ...rest,
    ...verificationOf(before),
    gameId,
    linkVersion: record.linkVersion + (isSame ? 0 : 1),
    linkedAt: before.linkedAt ?? (isSame ? record.linkedAt : at),
  };
};

/** What an import did to one record. */
interface MadeOf {
  readonly made: MadeRecord;
  readonly before?: RecordBefore | undefined;
}

const versionBefore = ({ made, before }: MadeOf): number =>
  made.linkVersion - (made.gameId === before?.gameId ? 0 : 1);

/** Whether an import changed a record as another import had left it. */
const isNext = (later: MadeOf, { made }: MadeOf): boolean =>
  later.before?.gameId === made.gameId &&
  later.before.lastVerifiedAt === made.lastVerifiedAt &&
  versionBefore(later) === made.linkVersion;

/**
 * Joins the imports of a record before and after an undone one, as if that had never been: what the later one replaced is
 * what was before, and the versions of earlier ones go on to the later one or to the record. Returns those that changed.
 *
 * @param others what the other imports did to the record
 * @param record the record after the undo; undefined if the undo left it
 * @internal
 */
export const joinedNeighbours = <A extends MadeOf>(
  own: MadeOf,
  others: ReadonlyArray<A>,
  record: LinkRecord | undefined,
): ReadonlyArray<A> => {
  const found = others.find((other) => isNext(other, own));
  const later = found && { ...found, before: own.before };
  const version = record?.linkVersion ?? (later && versionBefore(later));
  if (version === undefined) return [];
  const before = versionBefore(own);
  const earlier = others
    .filter(({ made }) => made.linkVersion <= before)
    .map((one) => ({ ...one, made: { ...one.made, linkVersion: one.made.linkVersion + version - before } }));
  return later === undefined ? earlier : [...earlier, later];
};

const verificationOf = ({ lastVerifiedAt, proof, provenAt }: Omit<RecordBefore, "gameId">) => ({
  lastVerifiedAt,
  proof,
  ...(provenAt !== undefined && { provenAt }),
});

/** Returns what an undo restores of a record; undefined if the user was never linked. @internal */
export const restorable = (record: LinkRecord | undefined): RecordBefore | undefined =>
  record !== undefined && isOrWasLinked(record)
    ? { gameId: record.gameId, linkedAt: record.linkedAt, ...verificationOf(record) }
    : undefined;

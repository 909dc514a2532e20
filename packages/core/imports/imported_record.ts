/** The rules by which an import and its undo change a link record. Stores apply them to a record that they have locked. */
import { Struct } from "effect";
import type { ChatId, GameId } from "../ids.ts";
import { isLinked, isOrWasLinked, type LinkRecord, noTime } from "../links/link.ts";
import { confirmedRecord, linkedRecord } from "../links/link_changes.ts";
import type { PortableLink } from "../links/link_store.ts";
import type { Millis } from "../timestamp.ts";
import type { BatchImported, ImportableLink, ImportBatch } from "./import_store.ts";
import type { ImportedLink } from "./link_imports.ts";

/**
 * Returns a chat user's record after an import. If the import changes nothing, returns the given `record` itself.
 * @internal
 */
export const importedRecord = (
  record: LinkRecord | undefined,
  { chatId, gameId, lastVerifiedAt, isUntimed = false }: ImportableLink,
  { existing, proof }: Pick<ImportBatch, "existing" | "proof">,
): LinkRecord => {
  if (record !== undefined && isOrWasLinked(record) && existing !== "replace") {
    const isNewer = !isUntimed && lastVerifiedAt > Math.max(record.linkedAt, record.lastVerifiedAt);
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

/** Returns the last link of each chat user, sorted by chat ID as strings, the order in which records are locked. @internal */
export const lastOfEach = (links: ReadonlyArray<ImportableLink>): ReadonlyArray<ImportableLink> =>
  [...new Map(links.map((link) => [link.chatId, link])).values()].toSorted((one, other) =>
    one.chatId < other.chatId ? -1 : 1,
  );

/**
 * Returns the links whose game users other chat users have: by the chat user of each link, the other chat user.
 *
 * @internal
 * @param stored for each link, the other chat user in the storage, if any; otherwise the chat user of an earlier link counts
 */
export const holdersOf = (
  links: ReadonlyArray<{ readonly chatId: ChatId; readonly gameId: GameId }>,
  stored: ReadonlyArray<ChatId | undefined>,
): ReadonlyMap<ChatId, ChatId> => {
  const firsts = new Map<GameId, ChatId>();
  const holders = new Map<ChatId, ChatId>();
  for (const [index, { chatId, gameId }] of links.entries()) {
    const holder = stored[index] ?? firsts.get(gameId);
    if (holder === undefined) firsts.set(gameId, chatId);
    else holders.set(chatId, holder);
  }
  return holders;
};

/** What the record of a user who was never linked was before the import. */
const neverLinked = {
  previousGameId: null,
  previousLinkedAt: null,
  previousVerifiedAt: null,
  previousProof: null,
  previousProvenAt: null,
};

/** The fields of `ImportedLink` that say what the record was before the import. */
type Previous = Pick<ImportedLink, keyof typeof neverLinked>;

const previousIn = ({ proof, provenAt, ...record }: LinkRecord): Previous => ({
  previousGameId: record.gameId,
  previousLinkedAt: record.linkedAt,
  previousVerifiedAt: record.lastVerifiedAt,
  previousProof: proof,
  previousProvenAt: provenAt ?? null,
});

const previousOf = (link: Previous): Previous =>
  Struct.pick(link, Object.keys(neverLinked) as ReadonlyArray<keyof Previous>);

/** Whether a batch found a record as an earlier batch of its import had left it. */
const isSameImport = (link: ImportedLink, { gameId, lastVerifiedAt }: LinkRecord): boolean =>
  link.gameId === gameId && link.verifiedAt === lastVerifiedAt;

/**
 * Returns what an import did to a record.
 *
 * @param earlier what an earlier batch of the import did to it
 * @internal
 */
export const madeLink = (
  importId: string,
  before: LinkRecord | undefined,
  { chatId, gameId, linkVersion, lastVerifiedAt: verifiedAt }: LinkRecord,
  earlier: ImportedLink | undefined,
): ImportedLink => {
  const isOwn = earlier !== undefined && before !== undefined && isSameImport(earlier, before);
  const found = before !== undefined && isOrWasLinked(before) ? previousIn(before) : neverLinked;
  const made = { importId, chatId, gameId: gameId as GameId, linkVersion, verifiedAt };
  return { ...made, ...(isOwn ? previousOf(earlier) : found) };
};

/** Whether an import found the link that it has, which an import before it had made. @internal */
export const isFound = ({ gameId, verifiedAt, previousGameId, previousVerifiedAt }: ImportedLink): boolean =>
  gameId === previousGameId && verifiedAt === previousVerifiedAt;

/** Whether nobody has changed a record since its import. @internal */
export const isUntouched = (link: ImportedLink, record: LinkRecord | undefined): record is LinkRecord =>
  record !== undefined && isSameImport(link, record) && link.linkVersion === record.linkVersion;

/**
 * Returns an imported record after the undo of its import. If the import made the record, it then says that the user was
 * never linked. Only the version does not go back. @internal
 */
export const undoneRecord = (record: LinkRecord, previous: Previous, at: Millis): LinkRecord => {
  const { previousGameId: gameId, previousVerifiedAt, previousProof, previousProvenAt } = previous;
  const isSame = gameId === record.gameId;
  const { provenAt: _, ...rest } = record;
  const linkVersion = record.linkVersion + (isSame ? 0 : 1);
  if (previousVerifiedAt === null)
    return { ...rest, gameId, linkVersion, linkedAt: noTime, lastVerifiedAt: 0 };
  return {
    ...rest,
    gameId,
    linkVersion,
    // Imports of earlier releases lack it.
    linkedAt: previous.previousLinkedAt ?? (isSame ? record.linkedAt : at),
    lastVerifiedAt: previousVerifiedAt,
    proof: previousProof,
    ...(previousProvenAt !== null && { provenAt: previousProvenAt }),
  };
};

const versionBefore = ({ linkVersion, gameId, previousGameId }: ImportedLink): number =>
  linkVersion - (gameId === previousGameId ? 0 : 1);

/** Whether an import changed a record as another import had left it. */
const isNext = (later: ImportedLink, { gameId, verifiedAt, linkVersion }: ImportedLink): boolean =>
  later.previousGameId === gameId &&
  later.previousVerifiedAt === verifiedAt &&
  versionBefore(later) === linkVersion;

/**
 * Joins the imports of a record before and after an undone one, as if that had never been: what the later one replaced is
 * what was before, and the versions of earlier ones go on to the later one or to the record. Returns those that changed.
 *
 * @param others what the other imports did to the record
 * @param record the record after the undo; undefined if the undo left it
 * @param earlierIds the IDs of the imports before the undone one, one of which may have changed the link that it made again
 * @internal
 */
export const joinedNeighbours = (
  own: ImportedLink,
  others: ReadonlyArray<ImportedLink>,
  record: LinkRecord | undefined,
  earlierIds: ReadonlySet<string>,
): ReadonlyArray<ImportedLink> => {
  const isAfter = (other: ImportedLink) => isFound(other) || !earlierIds.has(other.importId);
  const next = others.filter((other) => isAfter(other) && isNext(other, own));
  const found = next.find(isFound) ?? next[0];
  const later = found && { ...found, ...previousOf(own) };
  const version = record?.linkVersion ?? (later && versionBefore(later));
  if (version === undefined) return [];
  const before = versionBefore(own);
  const earlier = others
    .filter((one) => one !== found && one.linkVersion <= before)
    .map((one) => ({ ...one, linkVersion: one.linkVersion + version - before }));
  return later === undefined ? earlier : [...earlier, later];
};

/** The records of changes that the feed tells. */
import { Struct } from "effect";
import { type AuditAction, type AuditEntry, type WriteOrigin, withReason } from "../audit/audit.ts";
import { newEventId, sourceOf } from "../events/event.ts";
import type { ChatId, GameId } from "../ids.ts";
import type { Link } from "../links/link.ts";
import type { GameProof } from "../links/link_proof.ts";
import type { GameSet, RemoveGame } from "../links/link_store.ts";
import type { VerificationSession } from "../sessions/session_store.ts";
import type { Millis } from "../timestamp.ts";
import type { EventFields, JournalRecord } from "./journal.ts";

export interface Change extends WriteOrigin {
  readonly at: Millis;
}

type Details = AuditEntry["details"];

/** A record that only the team reads. */
export const logged = (
  { at, actor, requestId }: Change,
  action: AuditAction,
  details: Details,
): JournalRecord => ({ at, action, actor, requestId, details, event: null });

const told = (record: JournalRecord, fields: EventFields): JournalRecord => ({
  ...record,
  event: { id: newEventId(record.at), fields },
});

/**
 * @param write.via `restore` for a link that was put back; left out for others
 * @param proof how a chat user proved the game account; left out for a link by hand
 */
export const linkSet = (
  write: Change & { readonly reason?: string | null; readonly via?: "restore" },
  { record: { chatId, gameId, linkVersion, lastVerifiedAt }, previousGameId }: GameSet,
  proof?: GameProof,
): JournalRecord => {
  const { via } = write;
  const details = { chatId, gameId, previousGameId, ...(proof && { proof }), ...(via && { via }) };
  // A restored link keeps its time.
  const fields = { linkVersion, ...(lastVerifiedAt !== write.at && { lastVerifiedAt }) };
  return told(logged(write, "link.set", withReason(details, write)), fields);
};

/** @param link the link of the new chat user */
export const linkMoved = (write: Change, link: Link, chatId: ChatId): JournalRecord => {
  const { chatId: newChatId, gameId, linkVersion } = link;
  return told(logged(write, "link.moved", { chatId, newChatId, gameId }), { linkVersion });
};

/** @param linkVersion the version of the record after its link was removed */
export const linkRemoved = (
  write: Change & Pick<RemoveGame, "reason" | "source">,
  chatId: ChatId,
  removedGameId: GameId,
  linkVersion: number,
): JournalRecord =>
  told(logged(write, "link.removed", withReason({ chatId, removedGameId }, write)), {
    linkVersion,
    ...(write.source && { source: write.source }),
  });

/** @param count the links of this part of the import */
export const linksImported = (write: Change, count: number, details: Details): JournalRecord =>
  told(logged(write, "links.imported", details), { count, source: sourceOf(write.actor) });

/** @param count the links that this part of the undo removed or restored */
export const importUndone = (write: Change, count: number, details: Details): JournalRecord =>
  told(logged(write, "links.import_undone", details), { count, source: sourceOf(write.actor) });

/** @param deletedRecords how many records were deleted so far */
export const scopeDeleted = (write: Change, deletedRecords: number): JournalRecord =>
  told(logged(write, "scope.deleted", { deletedRecords }), {
    deletedRecords,
    source: sourceOf(write.actor),
  });

/** The erasure of a chat user in a scope, whose entry has the counts of what was erased. */
export const userErased = (write: Change, chatId: ChatId, details: Details): JournalRecord =>
  told(logged(write, "user.erased", details), { chatId });

/**
 * Returns the record of the end of a completed, failed or cancelled session, otherwise an empty list. It does not contain
 * the `sid`, because anyone who has a `sid` can open its flow.
 */
export const sessionEnded = (session: VerificationSession, at: Millis): ReadonlyArray<JournalRecord> => {
  const { state, proof } = session;
  if (state !== "completed" && state !== "failed" && state !== "cancelled") return [];
  const record = { at, action: `session.${state}`, actor: null, requestId: null, details: {} } as const;
  const fields = Struct.pick(session, sessionFields);
  return [told({ ...record, event: null }, state === "completed" ? { ...fields, proof } : fields)];
};

const sessionFields = ["clientId", "chatId", "gameId", "linkChanged", "previousGameId", "error"] as const;

import { type AuditAction, type AuditEntry, usersOf } from "../audit/audit.ts";
import { type EventType, type FeedEvent, sourceOf } from "../events/event.ts";
import { type ChatId, isChatId } from "../ids.ts";
import type { Journaled } from "../records/records.ts";

export type EventFields = Readonly<Record<string, string | number | boolean | null>>;

/**
 * One thing that happened, stored once, in the transaction of the change. The audit log has the records with an actor,
 * the feed of a scope those with an event.
 */
export interface JournalRecord extends Journaled {
  readonly action: AuditAction | EventType;
}

/** Returns the audit entry of a record; undefined for a record that only the feed has. */
export const entryOf = (
  { actor, at, requestId, action, details }: JournalRecord,
  place: Pick<AuditEntry, "sequence" | "account" | "pid">,
): AuditEntry | undefined =>
  actor === null ? undefined : { ...place, at, actor, requestId, action: action as AuditAction, details };

/** Returns the event of a record; undefined for a record that only the team reads. */
export const eventOf = (record: JournalRecord, position: number): FeedEvent | undefined => {
  const { event, action, at, actor, details } = record;
  if (event === null) return undefined;
  const entry = actor === null ? null : { actor, details };
  const data = eventData(record, event.fields);
  const undo = action === undone && { isUndo: true };
  return { id: event.id, type: eventTypeOf(action), at, data, position, entry, ...undo } as FeedEvent;
};

const undone = "links.import_undone";

/** Returns the type of a record's event: readers of the feed list links anew after an undo, as after an import. */
const eventTypeOf = (action: JournalRecord["action"]) => (action === undone ? "links.imported" : action);

const eventData = (record: JournalRecord, fields: EventFields): unknown => {
  const { actor, action, details, at } = record;
  if (actor === null) return fields;
  const { chatId, gameId, previousGameId, newChatId, removedGameId } = details;
  const { linkVersion, lastVerifiedAt = at } = fields;
  const source = fields["source"] ?? (details["proof"] === undefined ? sourceOf(actor) : "flow");
  const version = { linkVersion };
  switch (action) {
    case "link.set":
      return { chatId, gameId, previousGameId, ...version, lastVerifiedAt, source };
    case "link.moved":
      return { chatId: newChatId, previousChatId: chatId, gameId, ...version, lastVerifiedAt: at, source };
    case "link.removed":
      return { chatId, gameId: null, previousGameId: removedGameId, ...version, source };
    default:
      return fields;
  }
};

/** Returns what the feed tells of a record, without what only the team reads. */
export const withoutEntry = (record: JournalRecord): JournalRecord => ({
  ...record,
  actor: null,
  requestId: null,
  details: {},
  event: record.event && { ...record.event, fields: eventData(record, record.event.fields) as EventFields },
});

/** The chat users that a record is about, at most two. Stores find the record by them. */
export const usersIn = ({ action, actor, details, event }: JournalRecord): ReadonlyArray<ChatId> => {
  if (actor !== null) return usersOf({ actor, details });
  const { chatId, previousChatId } = event?.fields ?? {};
  return action === "user.erased" ? [] : [...new Set([chatId, previousChatId])].filter(isChatId);
};

import type { Actor } from "../audit/audit.ts";
import { erasedMark } from "../erased_mark.ts";
import type { ChatId } from "../ids.ts";
import type { EventFields, JournalRecord } from "./journal.ts";

/** The names of details that contain a chat ID. */
const chatDetails = new Set(["chatId", "newChatId", "otherChatId"]);
/** The names of details that are about the user whose chat ID the record contains: game IDs, and a reason. */
const userDetails = new Set(["gameId", "previousGameId", "removedGameId", "reason"]);
/** The fields of an event that are about its chat user. */
const userFields = new Set(["chatId", "gameId", "previousGameId", "clientId"]);

/**
 * Returns a record without the identifiers of a user, or null if it contains none: the user's chat ID, the user's game
 * IDs, and the names of the user's accounts. If a link moved from the user to another chat user, the game user stays,
 * because the link belongs to the other chat user now. The event of an erasure keeps its chat ID, for those who have to
 * erase the user as well.
 * @internal
 */
export const withoutUser = (
  record: JournalRecord,
  chatId: ChatId,
  accountNames: ReadonlyArray<string>,
): JournalRecord | null => {
  const { action, details, event } = record;
  const actor = record.actor && actorWithoutUser(record.actor, chatId, accountNames);
  const isOf = (name: string, value: unknown): boolean => chatDetails.has(name) && value === chatId;
  const isNamed = Object.entries(details).some(([name, value]) => isOf(name, value));
  const ownsDetails = isNamed && (action !== "link.moved" || details["newChatId"] === chatId);
  const fields = event && (action === "user.erased" ? event.fields : fieldsWithoutUser(event.fields, chatId));
  if (actor === record.actor && !isNamed && fields === (event?.fields ?? null)) return null;
  return {
    ...record,
    actor,
    details: erased(details, (name, value) => isOf(name, value) || (ownsDetails && userDetails.has(name))),
    event: event && fields && { ...event, fields },
  };
};

const actorWithoutUser = (actor: Actor, chatId: ChatId, accountNames: ReadonlyArray<string>): Actor => {
  if (actor.type === "user") return actor.id === chatId ? ({ ...actor, id: erasedMark } as Actor) : actor;
  if (actor.type !== "account") return actor;
  const id = accountNames.includes(actor.id) ? erasedMark : actor.id;
  const member = actor.member === chatId ? erasedMark : actor.member;
  return id === actor.id && member === actor.member ? actor : { ...actor, id, member };
};

const fieldsWithoutUser = (fields: EventFields, chatId: ChatId): EventFields => {
  const isOwn = fields["chatId"] === chatId;
  const isFormer = fields["previousChatId"] === chatId;
  if (!isOwn && !isFormer) return fields;
  return erased(fields, (name) => (isOwn && userFields.has(name)) || (isFormer && name === "previousChatId"));
};

const erased = <Value>(
  values: Readonly<Record<string, Value>>,
  isTheirs: (name: string, value: Value) => boolean,
): Readonly<Record<string, Value | string>> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value !== null && isTheirs(name, value) ? erasedMark : value,
    ]),
  );

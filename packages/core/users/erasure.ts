/**
 * The erasure of a chat user from the audit log.
 */
import type { Actor, AuditEntry } from "../audit/audit.ts";
import type { ChatId } from "../ids.ts";

/** Replaces identifiers of an erased user. */
export const erasedMark = "[erased]";

/** Details that contain chat IDs, and those that contain their game IDs. */
const chatDetails = new Set(["chatId", "newChatId", "otherChatId"]);
const gameDetails = new Set(["gameId", "previousGameId", "removedGameId"]);

type Erasable = Pick<AuditEntry, "actor" | "details">;

/**
 * An entry without the identifiers of a user: their chat ID, the game IDs beside it, and the names
 * of their accounts. Null if it contains none of these.
 */
export const withoutUser = (
  { actor, details }: Erasable,
  chatId: ChatId,
  accountNames: ReadonlyArray<string>,
): Erasable | null => {
  const isActor =
    (actor.type === "user" && actor.id === chatId) ||
    (actor.type === "account" && accountNames.includes(actor.id));
  const isOf = (name: string, value: unknown): boolean => chatDetails.has(name) && value === chatId;
  const isNamed = Object.entries(details).some(([name, value]) => isOf(name, value));
  if (!isActor && !isNamed) return null;
  const erased = Object.entries(details).map(([name, value]) => {
    const isTheirs = isOf(name, value) || (isNamed && gameDetails.has(name) && value !== null);
    return [name, isTheirs ? erasedMark : value];
  });
  return {
    actor: isActor ? ({ ...actor, id: erasedMark } as Actor) : actor,
    details: Object.fromEntries(erased),
  };
};

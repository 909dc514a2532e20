/** Names imports in the history of a link, since the links of an import have no audit entries of their own. */
import type { AuditEntry } from "../audit/audit.ts";
import type { ChatId, GameId } from "../ids.ts";

/**
 * Returns the entries of imports and undos that may have changed a chat user's link: after an entry of the user, the link
 * continues with another game user than the entry left.
 *
 * @param link the chat user, and the game user of the present link; null without a link
 * @param entries the entries of the chat user, newest first
 * @param imports the entries of imports and their undos in the same scope
 * @param isWhole whether the user has no older entries
 * @internal
 */
export const importsBetween = (
  { chatId, gameId }: { readonly chatId: ChatId; readonly gameId: GameId | null },
  entries: ReadonlyArray<AuditEntry>,
  imports: ReadonlyArray<AuditEntry>,
  isWhole: boolean,
): ReadonlyArray<AuditEntry> => {
  const shown: Array<AuditEntry> = [];
  let [game, end]: [unknown, number] = [gameId, Infinity];
  const addBetween = (start: number) =>
    shown.push(...imports.filter(({ sequence }) => sequence > start && sequence < end));
  for (const entry of entries) {
    const change = changeOf(entry, chatId);
    if (change === null) continue;
    if (change.after !== game) addBetween(entry.sequence);
    [game, end] = [change.before, entry.sequence];
  }
  if (isWhole && game !== null) addBetween(-Infinity);
  return shown.toSorted((one, other) => other.sequence - one.sequence);
};

/** Returns the game users of a chat user before and after an entry; null if the entry changes no link. */
const changeOf = ({ action, details }: AuditEntry, chatId: ChatId) => {
  const { gameId = null, previousGameId = null, removedGameId = null } = details;
  if (action === "link.set") return { before: previousGameId, after: gameId };
  if (action === "link.removed") return { before: removedGameId, after: null };
  if (action !== "link.moved") return null;
  return details["chatId"] === chatId ? { before: gameId, after: null } : { before: null, after: gameId };
};

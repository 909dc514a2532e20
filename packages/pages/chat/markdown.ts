/** The markup of chat messages. */
import type { ChatId, GameId } from "@accountlink/core";
import type { GameProfile } from "@accountlink/core/platforms";
import type { Millis } from "@accountlink/core/timestamp";

/** Escapes Markdown in a name, so that the chat platform shows the name's own characters. */
export const plain = (text: string): string => text.replace(/[\\*_~`|>#[\]()<-]/g, String.raw`\$&`);

/** The chat platform shows a mention as the member's name. */
export const userText = (chatId: ChatId): string => `<@${chatId}>`;

export const rolesText = (roleIds: ReadonlyArray<string>): string =>
  roleIds.map((id) => `<@&${id}>`).join(" ");

/** The chat platform shows a day in the language and the time zone of the reader. */
export const dayText = (at: Millis): string => `<t:${Math.floor(at / 1_000)}:D>`;

/** @param pageOf the URL of a user's page on the game platform; null if the platform has no pages */
export const accountText = (
  gameId: GameId,
  profile: GameProfile | null,
  pageOf: ((gameId: GameId) => string) | null,
): string => {
  const { username = null, displayName = null } = profile ?? {};
  const name = `**${plain(displayName ?? username ?? gameId)}**`;
  const linked = pageOf === null ? name : `[${name}](<${pageOf(gameId)}>)`;
  return username === null ? linked : `${linked} (\`${username.replaceAll("`", "'")}\`)`;
};

/** The CSV file of the blocks of a community. */
import type { Block, BlockedUser } from "@accountlink/core/admission";
import { longestReason } from "@accountlink/core/audit";
import { isChatId, isGameId } from "@accountlink/core/ids";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { csvOf } from "../csv_file.ts";

const columns = ["chatId", "gameId", "reason", "at", "member"] as const;

/** Blocks of users who were erased name nobody, so that no other community can use them. */
export const blockFile = (blocks: ReadonlyArray<Block>): string =>
  csvOf(
    columns,
    blocks
      .filter(({ chatId, gameId }) => (chatId ?? gameId) !== null)
      .map(({ chatId, gameId, reason, at, member }) => [chatId, gameId, reason, formatTimestamp(at), member]),
  );

export interface ListedBlock {
  readonly user: BlockedUser;
  readonly reason: string | null;
}

/** Returns the blocks of a file, and how many of its rows are none; null if the file has no column of IDs. */
export const readBlockFile = (text: string) => {
  const [header = [], ...rows] = rowsOf(text);
  const names = header.map((name) => name.trim().toLowerCase());
  const place = (column: (typeof columns)[number]) => names.indexOf(column.toLowerCase());
  const [chat, game, reason] = [place("chatId"), place("gameId"), place("reason")];
  if (chat < 0 && game < 0) return null;
  const listed = rows.flatMap((cells): ReadonlyArray<ListedBlock> => {
    const [chatId = "", gameId = ""] = [cells[chat]?.trim(), cells[game]?.trim()];
    const why = reasonIn(plain(cells[reason] ?? ""));
    if (gameId === "" && isChatId(chatId)) return [{ user: { chatId, gameId: null }, reason: why }];
    if (chatId === "" && isGameId(gameId)) return [{ user: { chatId: null, gameId }, reason: why }];
    return [];
  });
  return { listed, wrong: rows.length - listed.length };
};

/** The most blocks that one form sends, and the longest file of them in characters of a form. */
const [mostSent, longestSent] = [500, 60_000];

/** Returns the first blocks of a file that one form can send, as a file. */
export const firstOf = (
  listed: ReadonlyArray<ListedBlock>,
  count = mostSent,
): { readonly sent: ReadonlyArray<ListedBlock>; readonly csv: string } => {
  const sent = listed.slice(0, count);
  const csv = csvOf(
    ["chatId", "gameId", "reason"],
    sent.map(({ user: { chatId, gameId }, reason: why }) => [chatId, gameId, why]),
  );
  return new URLSearchParams({ csv }).toString().length > longestSent
    ? firstOf(listed, sent.length / 2)
    : { sent, csv };
};

/** The reason in a text, of which the longest is cut. */
export const reasonIn = (text: string): string | null =>
  Array.from(text).slice(0, longestReason).join("") || null;

/** The file has an apostrophe before a text that a spreadsheet would run as a formula. */
const plain = (text: string): string => text.replace(/^'(?=[\s=+\-@＝＋－＠])/u, "");

/** The rows of a CSV text, without empty ones. A quoted cell may have line breaks; a quote that closes no cell is text. */
const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  // A spreadsheet may write another separator than the file had.
  const separator = /[,;\t]/.exec(/^.+/m.exec(text)?.[0] ?? "")?.[0] ?? ",";
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}\r\n]*))(${separator}|\r\n?|\n|$)`, "gu");
  const rows: Array<ReadonlyArray<string>> = [];
  let row: Array<string> = [];
  for (const [, quoted, bare = "", end] of text.replace(/^\uFEFF/, "").matchAll(cell)) {
    row.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === separator) continue;
    if (row.some((each) => each.trim() !== "")) rows.push(row);
    row = [];
  }
  return rows;
};

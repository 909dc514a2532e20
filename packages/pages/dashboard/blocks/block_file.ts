/** The CSV file of the blocks of a community. */
import type { Block, BlockedUser } from "@accountlink/core/admission";
import { longestReason } from "@accountlink/core/audit";
import { isChatId, isGameId } from "@accountlink/core/ids";
import { RoundedIds } from "@accountlink/core/imports";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Effect } from "effect";
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

/** How many cells are read before other fibers run. */
const cellsAtOnce = 500;

/**
 * Returns the blocks of a file, one for each user, how many of its rows are none, and how many chat IDs a program has
 * rounded; null if the file has no column of IDs.
 */
export const readBlockFile = Effect.fnUntraced(function* (text: string) {
  const listed = new Map<string, ListedBlock>();
  const rounded = new RoundedIds();
  let [chat, game, reason] = [-1, -1, -1];
  let [line, wrong] = [0, 0];
  for (const cells of rowsOf(text)) {
    if (cells === "pause") {
      yield* Effect.yieldNow;
      continue;
    }
    if (++line === 1) {
      const names = cells.map((name) => name.trim().toLowerCase());
      const place = (column: (typeof columns)[number]) => names.indexOf(column.toLowerCase());
      [chat, game, reason] = [place("chatId"), place("gameId"), place("reason")];
      if (chat < 0 && game < 0) return null;
      continue;
    }
    const [chatId = "", gameId = ""] = [cells[chat]?.trim(), cells[game]?.trim()];
    const user = userOf(chatId, gameId);
    if (user === null) wrong++;
    else listed.set(`${chatId},${gameId}`, { user, reason: reasonIn(plain(cells[reason] ?? "")) });
    rounded.note(chatId, { line, text: chatId });
  }
  if (line === 0) return null;
  return { listed: [...listed.values()], wrong, rounded: rounded.lines?.count ?? 0 };
});

const userOf = (chatId: string, gameId: string): BlockedUser | null => {
  if (gameId === "" && isChatId(chatId)) return { chatId, gameId: null };
  return chatId === "" && isGameId(gameId) ? { chatId: null, gameId } : null;
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

/**
 * The rows of a CSV text, without empty ones, and a `pause` now and then, however few or long they are. A quoted cell may
 * have line breaks; a quote that closes no cell is text.
 */
function* rowsOf(text: string): Generator<ReadonlyArray<string> | "pause"> {
  // A spreadsheet may write another separator than the file had.
  const separator = /[,;\t]/.exec(/^.+/m.exec(text)?.[0] ?? "")?.[0] ?? ",";
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}\r\n]*))(${separator}|\r\n?|\n|$)`, "gu");
  let row: Array<string> = [];
  let count = 0;
  for (const [, quoted, bare = "", end] of text.replace(/^\uFEFF/, "").matchAll(cell)) {
    if (++count % cellsAtOnce === 0) yield "pause";
    row.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === separator) continue;
    if (row.some((each) => each.trim() !== "")) yield row;
    row = [];
  }
}

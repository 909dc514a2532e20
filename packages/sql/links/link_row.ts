/** Rows of `links`, decoded without Schema, since every lookup decodes one. */
import type { ChatId, GameId } from "@accountlink/core";
import type { GameSet, LinkRecord } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Exit, Option } from "effect";
import type { SqlConnection } from "effect/sql";
import { literalSql, readerOf, UnreadableRow } from "../statements/row.ts";

const digits = /^\d{1,32}$/;
const isId = (value: unknown): value is string => typeof value === "string" && digits.test(value);
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

/** A row as an array of values in column order: cheaper than an object for lookups. */
export type RowValues = ReadonlyArray<unknown>;

export const recordColumns = literalSql("chat_id, game_id, link_version, linked_at, last_verified_at");

const recordOf = (
  chatId: unknown,
  gameId: unknown,
  linkVersion: unknown,
  linkedAt: unknown,
  lastVerifiedAt: unknown,
): LinkRecord | undefined => {
  if (!isId(chatId) || !(gameId === null || isId(gameId))) return undefined;
  if (!isWhole(linkVersion) || !isWhole(linkedAt) || !isWhole(lastVerifiedAt)) return undefined;
  return { chatId: chatId as ChatId, gameId: gameId as GameId | null, linkVersion, linkedAt, lastVerifiedAt };
};

const recordIn = (row: SqlConnection.Row) =>
  recordOf(row["chat_id"], row["game_id"], row["link_version"], row["linked_at"], row["last_verified_at"]);

export const readRecords = readerOf("links", recordIn);

const recordInValues = (row: RowValues) => recordOf(row[0], row[1], row[2], row[3], row[4]);

export const readRecordValues = readerOf("links", recordInValues);

export const readRecord = ([row]: ReadonlyArray<RowValues>): Exit.Exit<
  Option.Option<LinkRecord>,
  UnreadableRow
> => {
  if (row === undefined) return Exit.succeed(Option.none());
  const record = recordInValues(row);
  return record === undefined
    ? Exit.fail(new UnreadableRow({ table: "links" }))
    : Exit.succeed(Option.some(record));
};

const gameOf = (value: unknown): GameId | null | undefined =>
  value === null || isId(value) ? (value as GameId | null) : undefined;

export const readUnlinked = readerOf("links", (row: SqlConnection.Row) => {
  const [removedGameId, linkVersion] = [gameOf(row["previous_game_id"]), row["link_version"]];
  return isId(removedGameId) && isWhole(linkVersion) ? { removedGameId, linkVersion } : undefined;
});

const setIn = (row: SqlConnection.Row): GameSet | undefined => {
  const [record, previousGameId] = [recordIn(row), gameOf(row["previous_game_id"])];
  if (record === undefined || record.gameId === null || previousGameId === undefined) return undefined;
  return { record, previousGameId };
};

export const readSets = readerOf("links", setIn);

export const readPairs = readerOf("links", ([chatId, gameId]: RowValues) =>
  isId(chatId) && isId(gameId) ? { chatId: chatId as ChatId, gameId: gameId as GameId } : undefined,
);

/** The game users of chat users, from rows of `gamesByChatIds`. */
export const gamesIn = (rows: ReadonlyArray<RowValues>) => {
  const found = new Map(rows as ReadonlyArray<[chatId: unknown, gameId: unknown]>);
  return (chatIds: ReadonlyArray<ChatId>): Exit.Exit<ReadonlyMap<ChatId, GameId>, UnreadableRow> => {
    const games = new Map<ChatId, GameId>();
    for (const chatId of chatIds) {
      const gameId = found.get(chatId);
      if (gameId === undefined || gameId === null) continue;
      if (!isId(gameId)) return Exit.fail(new UnreadableRow({ table: "links" }));
      games.set(chatId, gameId as GameId);
    }
    return Exit.succeed(games);
  };
};

export interface CountStep {
  readonly links: number;
  readonly last: string | null;
}

export const readCountSteps = readerOf("links", ([links, last]: RowValues): CountStep | undefined =>
  isWhole(links) && (last === null || isId(last)) ? { links, last } : undefined,
);

export const readNumbers = readerOf("links", ([value]: RowValues) => (isWhole(value) ? value : undefined));

/** A link to write, as a JSON array. */
export type Line = readonly [chatId: ChatId, gameId: GameId, at: Millis];

/** One chat user's parameters of a statement, as a JSON array that begins with the chat ID. */
export type ChatLine = readonly [chatId: ChatId, ...ReadonlyArray<unknown>];

/** The order in which records are locked, to avoid deadlocks. */
export const byChatId = ([one]: ChatLine, [other]: ChatLine): number => (one < other ? -1 : 1);

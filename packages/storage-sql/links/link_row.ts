/** Rows of `links`. Decoded by hand, since every look-up decodes one. */
import type { ChatId, GameId } from "@accountlink/core";
import type { LinkRecord } from "@accountlink/core/links";
import { Effect, Option } from "effect";
import type { SqlConnection } from "effect/sql";
import { readerOf } from "../statements/row.ts";

const digits = /^\d{1,32}$/;
const isId = (value: unknown): value is string => typeof value === "string" && digits.test(value);
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

export const readRecords = readerOf("links", (row: SqlConnection.Row): LinkRecord | undefined => {
  const { chat_id, game_id, link_version, linked_at, last_verified_at } = row;
  if (!isId(chat_id) || !(game_id === null || isId(game_id))) return undefined;
  if (!isWhole(link_version) || !isWhole(linked_at) || !isWhole(last_verified_at)) return undefined;
  return {
    chatId: chat_id as ChatId,
    gameId: game_id as GameId | null,
    linkVersion: link_version,
    linkedAt: linked_at,
    lastVerifiedAt: last_verified_at,
  };
});

/** The record of a look-up by key, if any. */
export const readRecord = (rows: ReadonlyArray<SqlConnection.Row>) =>
  Effect.mapEager(readRecords(rows), (records) => Option.fromUndefinedOr(records[0]));

/** The game that a write replaced. */
export const readReplaced = readerOf(
  "links",
  ({ previous_game_id }: SqlConnection.Row): GameId | null | undefined =>
    previous_game_id === null || isId(previous_game_id) ? (previous_game_id as GameId | null) : undefined,
);

export const readPairs = readerOf("links", ({ chat_id, game_id }: SqlConnection.Row) =>
  isId(chat_id) && isId(game_id) ? { chatId: chat_id as ChatId, gameId: game_id as GameId } : undefined,
);

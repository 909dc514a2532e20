/**
 * Dashboard routes for the users that a community does not admit.
 *
 * @example
 * ```ts
 * const blocks = [DashboardBlocks.getBlocks, DashboardBlocks.putBlock, DashboardBlocks.deleteBlock];
 * new Set(blocks.map(pathTemplate)).size; // 1
 * const files = [DashboardBlocks.exportBlocks, DashboardBlocks.importBlocks];
 * [...blocks, ...files].every(({ role }) => role === "moderator"); // true
 * ```
 */

import { longestReason } from "@accountlink/core/audit";
import { ChatId, GameId } from "@accountlink/core/ids";
import { Schema, SchemaTransformation } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, gameId, optional, required, textUpTo } from "../parameter.ts";
import { managed, nextOf, pageLimit, pid } from "./signed_in.ts";

/** A page cursor in the list of a scope's blocks. */
const BlockPlace = Schema.String.check(Schema.isPattern(/^\d{1,15}-[\w-]{43}$/u)).pipe(
  Schema.decodeTo(
    Schema.Struct({ at: Schema.Int, hash: Schema.String }),
    SchemaTransformation.transform({
      decode: (text: string) => {
        const [time = ""] = text.split("-", 1);
        return { at: Number(time), hash: text.slice(time.length + 1) };
      },
      encode: ({ at, hash }) => `${at}-${hash}`,
    }),
  ),
);

/** Both IDs are null for a chat user who was erased. */
const Block = Schema.Struct({
  chatId: Schema.NullOr(ChatId),
  gameId: Schema.NullOr(GameId),
  reason: Schema.NullOr(Schema.String),
  at: IsoTime,
  member: Schema.NullOr(Schema.String),
});

/** The most characters of a file of blocks. */
const mostCsv = 8_000_000;

const user = { chatId: optional(chatId()), gameId: optional(gameId()) };

export const getBlocks = managed("moderator", "GET", "/blocks", {
  id: "getBlocks",
  summary: "The users whom a community keeps out, the last blocked first",
  parameters: { pid, limit: pageLimit, cursor: nextOf(BlockPlace) },
  data: { blocks: Schema.Array(Block), next: Schema.NullOr(Schema.String) },
});

export const exportBlocks = managed("moderator", "GET", "/blocks/export", {
  id: "exportBlocks",
  summary: "All blocks of a community as a CSV file, which another community can import",
  parameters: { pid },
  isCsv: true,
  data: {},
});

export const importBlocks = managed("moderator", "POST", "/blocks/import", {
  id: "importBlocks",
  summary: "Keep out the users of a CSV file of blocks; those who are blocked already stay as they are",
  parameters: {
    pid,
    csv: required(
      Schema.String.check(Schema.isMaxLength(mostCsv)),
      { is: "characters", most: mostCsv },
      "The file as it was downloaded; it may be the whole body, of type `text/csv`, with `pid` in the query",
    ),
  },
  csvBody: "csv",
  example: { csv: "chatId,gameId,reason\n100009,,Cheats\n" },
  data: { imported: Schema.Int, kept: Schema.Int, wrong: Schema.Int, left: Schema.Int },
  refuses: ["block_limit"],
});

export const putBlock = managed("moderator", "PUT", "/blocks", {
  id: "putBlock",
  summary: "Keep a chat user or a game user out of a community, and remove their links",
  parameters: {
    pid,
    ...user,
    reason: optional(textUpTo(longestReason, `Why, for the team alone; at most ${longestReason} characters`)),
  },
  requiresOneOf: ["chatId", "gameId"],
  example: { gameId: "3", reason: "Cheats" },
  data: { block: Block, removedLinks: Schema.Int },
  refuses: ["block_limit"],
});

export const deleteBlock = managed("moderator", "DELETE", "/blocks", {
  id: "deleteBlock",
  summary: "Let a user in again; nothing is linked by that",
  parameters: { pid, ...user },
  requiresOneOf: ["chatId", "gameId"],
  source: "body",
  example: { gameId: "3" },
  data: { deleted: Schema.Boolean },
});

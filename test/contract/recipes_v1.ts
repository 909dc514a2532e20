/**
 * The properties of each route of v1, from which `cases.ts` makes most test cases. Every scope has the links 100001 → 1
 * and 100002 → 2.
 */
import { guild, nobody, stranger } from "../support/fixtures.ts";
import { creation, type Exchange, type Recipe, reading, streamed, type Values } from "./recipe.ts";

const unlinked = (
  status: "400" | "404",
  values: Values,
  expected = "No link found for this chat ID",
): Exchange => ({ answer: `${status} LINK_NOT_FOUND`, values, expected });

export const v1Recipes: Readonly<Record<string, Recipe>> = {
  gameToChat: {
    access: ["read", "verify"],
    good: { gameId: "1" },
    data: { gameId: "1", chatIds: ["100001"] },
    required: ["gameId"],
    invalid: { gameId: "x" },
    others: [{ answer: "200 -", values: { gameId: "5" }, expected: { gameId: "5", chatIds: [] } }],
  },
  chatToGame: {
    access: ["read", "verify"],
    good: { chatId: "100001" },
    data: { chatId: "100001", gameId: "1" },
    required: ["chatId"],
    invalid: { chatId: "1234" },
    member: "user_not_in_guild",
    strange: { chatId: stranger },
    others: [unlinked("404", { chatId: "100005" }, "No game user linked to this chat ID")],
  },
  updateChat: {
    good: { oldChatId: "100001", newChatId: "100003" },
    data: { message: "Chat ID updated", chatId: "100003", gameId: "1" },
    required: ["oldChatId", "newChatId"],
    invalid: { newChatId: "new" },
    member: "new_user_not_in_guild",
    strange: { oldChatId: "100001", newChatId: stranger },
    others: [
      unlinked("400", { oldChatId: "100005", newChatId: "100001" }),
      {
        answer: "400 CONFLICT",
        values: { oldChatId: "100001", newChatId: "100002" },
        expected: "New chat ID already has a link",
      },
    ],
  },
  updateGame: {
    good: { chatId: "100001", newGameId: "3" },
    data: { message: "Game ID updated", chatId: "100001", gameId: "3" },
    required: ["chatId", "newGameId"],
    invalid: { newGameId: nobody },
    member: "user_not_in_guild",
    strange: { chatId: stranger, newGameId: "3" },
    others: [
      {
        answer: "400 CONFLICT",
        key: { owner: "100001" },
        values: { chatId: "100003", newGameId: "3" },
        expected: "The plan allows no more links",
      },
    ],
  },
  deleteGameLink: {
    good: { chatId: "100001" },
    data: { message: "Game link removed", chatId: "100001", removedGameId: "1" },
    required: ["chatId"],
    invalid: { chatId: "-100001" },
    others: [unlinked("400", { chatId: "100005" })],
  },
  resetDatabase: {
    good: {},
    data: { message: "Database reset", deletedRecords: 2 },
    required: [],
    invalid: { guildId: guild },
    guilds: "own",
    guildRequired: false,
  },
  detectAlts: {
    access: ["read"],
    good: { chatId: "100001" },
    data: {
      target: { chatIds: ["100001"], gameIds: ["1"] },
      alts: [],
      risk: { score: 0, label: "low", breakdown: { overall: 0, alt: 0, vpn: 0 } },
      summary: { totalAlts: 0, gameAltIds: [] },
    },
    required: ["chatId", "gameId", "ip"],
    invalid: { ip: "203.0.113" },
    tier: "premium_or_global",
    others: [{ answer: "200 -", key: { tier: "free" }, values: { chatId: "100001" }, expected: {} }],
  },
  createVerifySession: creation,
  getVerifySession: { ...reading, invalid: { wait: "-1" } },
  streamVerifySession: { ...reading, data: streamed },
};

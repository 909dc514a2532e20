/**
 * The properties of each route of v2, from which `cases.ts` makes most test cases. Every scope has the links 100001 → 1
 * and 100002 → 2.
 */
import { expect } from "vitest";
import { guild, newToken, nobody, stranger } from "../support/fixtures.ts";
import { creation, type Exchange, pending, type Recipe, reading, streamed } from "./recipe.ts";

const noAlts = {
  target: { chatId: "100001", gameId: "1", guildId: expect.toBeOneOf([null, guild]) as unknown },
  matches: [],
  risk: { score: 0, severity: "LOW" },
  summary: { matchCount: 0 },
  resolved: false,
};

/** A bulk lookup of one more than `limit`. */
const tooMany = (name: string, limit: number): Exchange => ({
  answer: "400 BULK_LIMIT_EXCEEDED",
  values: { [name]: Array(limit + 1).fill("1") },
  expected: { limit, received: limit + 1 },
});

const reviewed = { chatId: "100001", otherChatId: "100002", verdict: "same", note: "Said so" };

/** An account whose owner manages no guild. */
export const unmanaging = "unmanaging";

/** An account whose role plan for the guild is switched on, but changes no member. */
export const syncing = "syncing";

export const v2Recipes: Readonly<Record<string, Recipe>> = {
  getChat: {
    access: ["read", "verify"],
    good: { chatId: "100001" },
    data: { chatId: "100001", gameId: "1" },
    required: ["chatId"],
    invalid: { chatId: "1234" },
    member: "user_not_in_guild",
    strange: { chatId: stranger },
    resolved: true,
    others: [{ answer: "404 LINK_NOT_FOUND", values: { chatId: "100005" }, expected: null }],
  },
  getGame: {
    access: ["read", "verify"],
    good: { gameId: "1" },
    data: { gameId: "1", chatIds: ["100001"], count: 1 },
    required: ["gameId"],
    invalid: { gameId: "x" },
    resolved: true,
    others: [{ answer: "404 LINK_NOT_FOUND", values: { gameId: "5" }, expected: null }],
  },
  getVerification: {
    access: ["read", "verify"],
    good: { chatId: "100001" },
    data: { linked: true, chatId: "100001", gameId: "1", linkVersion: 1 },
    required: ["chatId"],
    invalid: { chatId: "1".repeat(33) },
    member: "user_not_in_guild",
    strange: { chatId: stranger },
    resolved: true,
    others: [{ answer: "200 -", values: { chatId: "100005" }, expected: { linked: false } }],
  },
  bulkChat: {
    access: ["read"],
    good: { chatIds: ["100001", "100009"] },
    data: { count: 2, foundCount: 1, notFoundCount: 1, errorCount: 0 },
    required: ["chatIds"],
    invalid: { chatIds: "100001" },
    resolved: true,
    others: [tooMany("chatIds", 50)],
  },
  bulkGame: {
    access: ["read"],
    good: { gameIds: ["1", "9"] },
    data: { count: 2, foundCount: 1, notFoundCount: 1, errorCount: 0 },
    required: ["gameIds"],
    invalid: { gameIds: [] },
    resolved: true,
    others: [tooMany("gameIds", 50)],
  },
  getAlts: {
    access: ["read"],
    good: { chatId: "100001" },
    data: noAlts,
    required: ["chatId", "gameId", "ip"],
    invalid: { ip: "203.0.113" },
    tier: "premium",
    others: [
      {
        answer: "200 -",
        values: { gameId: "5" },
        expected: { target: { chatId: null, gameId: "5" }, matches: [] },
      },
      {
        answer: "403 PREMIUM_REQUIRED",
        key: { tier: "free", kind: "partner" },
        values: { chatId: "100001" },
        expected: null,
      },
    ],
  },
  bulkAlts: {
    access: ["read"],
    good: { gameIds: ["1", "9"] },
    data: { count: 2, foundCount: 2, notFoundCount: 0, errorCount: 0, results: [{ data: noAlts }, {}] },
    required: ["gameIds"],
    invalid: { gameIds: [] },
    tier: "premium_or_custom",
    others: [
      tooMany("gameIds", 10),
      { answer: "200 -", key: { tier: "free", kind: "partner" }, values: { gameIds: ["1"] }, expected: {} },
      {
        answer: "403 PREMIUM_REQUIRED",
        key: { tier: "free", kind: "partner" },
        values: { gameIds: ["1"], resolved: true },
        expected: null,
      },
    ],
  },
  putAltReview: {
    good: reviewed,
    data: { review: reviewed },
    required: ["chatId", "otherChatId", "verdict"],
    invalid: { verdict: "maybe" },
    tier: "premium",
  },
  getAltReviews: {
    access: ["read"],
    good: { chatId: "100001" },
    data: { reviews: [] },
    required: ["chatId"],
    invalid: { chatId: "1234" },
    tier: "premium",
  },
  deleteAltReview: {
    good: { chatId: "100001", otherChatId: "100002" },
    data: { chatId: "100001", otherChatId: "100002", deleted: false },
    required: ["chatId", "otherChatId"],
    invalid: { otherChatId: "100001" },
    tier: "premium",
  },
  patchChat: {
    good: { oldChatId: "100001", newChatId: "100003" },
    data: { previousChatId: "100001", chatId: "100003", gameId: "1", updated: true },
    required: ["oldChatId", "newChatId"],
    invalid: { newChatId: 100_003 },
    member: "new_user_not_in_guild",
    strange: { oldChatId: "100001", newChatId: stranger },
    others: [
      { answer: "404 LINK_NOT_FOUND", values: { oldChatId: "100005", newChatId: "100001" }, expected: null },
      {
        answer: "409 CONFLICT",
        values: { oldChatId: "100001", newChatId: "100002" },
        expected: { reason: "chat_already_linked" },
      },
    ],
  },
  patchGame: {
    good: { chatId: "100001", gameId: "3" },
    data: { chatId: "100001", gameId: "3", previousGameId: "1", updated: true },
    required: ["chatId", "gameId"],
    invalid: { gameId: nobody },
    member: "user_not_in_guild",
    strange: { chatId: stranger, gameId: "3" },
  },
  deleteGame: {
    good: { chatId: "100001" },
    data: { chatId: "100001", removedGameId: "1", deleted: true },
    required: ["chatId"],
    invalid: { chatId: "12ab5" },
    member: "user_not_in_guild",
    strange: { chatId: stranger },
    others: [{ answer: "404 LINK_NOT_FOUND", values: { chatId: "100005" }, expected: null }],
  },
  deleteData: {
    good: { confirm: true },
    data: { deletedRecords: 2, collection: "links" },
    required: [],
    invalid: { guildId: "12" },
    guilds: "own",
  },
  syncMember: {
    key: { account: syncing, guildId: guild },
    good: { chatId: "100001", guildId: guild },
    data: { chatId: "100001", added: [], removed: [], nickname: null },
    required: ["chatId", "guildId"],
    invalid: { chatId: "1234" },
    member: "user_not_in_guild",
    strange: { chatId: stranger },
    guilds: "own",
    guildRequired: false,
    others: [{ answer: "404 BAD_REQUEST", values: { chatId: "100001", guildId: guild }, expected: null }],
  },
  reportLeakedKey: {
    good: { key: newToken() },
    data: { revoked: true },
    required: ["key"],
    invalid: { key: 5 },
    guilds: "none",
    isOpen: true,
  },
  getEvents: {
    access: ["read"],
    good: { from: "oldest", types: "links.imported" },
    data: {
      events: [{ type: "links.imported", data: { count: 2, source: "operator" } }],
      cursor: expect.any(String) as unknown,
      more: false,
    },
    required: [],
    invalid: { limit: "101" },
    guilds: "own",
    guildRequired: false,
  },
  streamEvents: {
    access: ["read"],
    good: {},
    data: expect.stringMatching(/^retry: 2000\n\nid: \S+\nevent: timeout\ndata: \{\}\n\n$/),
    required: [],
    invalid: { types: "link.set,link" },
    guilds: "own",
    guildRequired: false,
  },
  listLinks: {
    access: ["read"],
    good: { limit: "1" },
    data: { links: [{ chatId: "100001", gameId: "1", linkVersion: 1 }] },
    required: [],
    invalid: { limit: "0" },
    guilds: "own",
    guildRequired: false,
  },
  createSession: creation,
  getSession: { ...reading, invalid: { wait: "26" } },
  streamSession: { ...reading, data: streamed },
  redirectSession: {
    good: {},
    data: `/verify?sid=vs_${"0".repeat(43)}`,
    required: [],
    guilds: "none",
    isOpen: true,
    status: 302,
  },
  cancelSession: { ...reading, data: { ...pending, state: "cancelled" } },
};

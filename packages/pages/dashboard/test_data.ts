/** Data that the pages show in tests: an account with keys, usage and changes. */

import type { ChatId, GameId, GuildId, KeyId, Pid } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import type { KeyDetails } from "@accountlink/core/keys";
import type { OwnGuild } from "@accountlink/core/platforms";
import { dayMs } from "@accountlink/core/timestamp";
import type { UsageDay, UsageGroup } from "@accountlink/core/usage";
import type { WebhookDetails, WebhookId } from "@accountlink/core/webhooks";
import { makeKey as makeApiKey, makeWebhook as makeStoredWebhook } from "@accountlink/testing";
import type { AltsFound } from "./alts/alts_page.ts";
import type { Community } from "./communities/community.ts";
import type { Visitor } from "./page.ts";

export const now = Date.parse("2026-11-21T10:00:00Z");

export const chatId = "100001" as ChatId;

const guildId = "700000000000000001" as GuildId;

export const quota = { perWindow: 1, windowMs: 1000, daily: 2500, verifyDaily: 10_000 };

const scope = { kind: "guild", guildId, pid: "pid_0123456789abcdefghij" as Pid, account: "acme" } as const;

export const makeKey = (chosen: Partial<KeyDetails> = {}): KeyDetails => ({
  ...makeApiKey(scope, { id: "Aa0Bb1Cc2Dd3" as KeyId, name: "Bot", tier: "premium", createdAt: now }),
  lastUsedAt: null,
  previousSecretEndsAt: null,
  revokedAt: null,
  ...chosen,
});

export const makeWebhook = (chosen: Partial<WebhookDetails> = {}): WebhookDetails => ({
  ...makeStoredWebhook(scope, { id: "wh_Aa0Bb1Cc2Dd3Ee4Ff5Gg" as WebhookId, createdAt: now }),
  pending: 0,
  ...chosen,
});

export const makeGuild = (name: string): OwnGuild => ({ guildId, name, bot: true, manager: true });

const aChat = {
  id: "100003",
  username: null,
  displayName: null,
  avatar: null,
  banner: null,
  created: null,
  guild: null,
};

/** A result of alt detection with a match for every kind of evidence. */
export const makeAlts = (text: string): AltsFound => {
  const visit = { lastSeenAt: now - 3 * dayMs, chatUsers: 2 };
  const pair = {
    chatId,
    otherChatId: "100002" as ChatId,
    verdict: "different",
    at: now,
    keyId: null,
  } as const;
  return {
    pid: scope.pid,
    reviews: [{ ...pair, note: text }],
    names: new Map([[chatId, text]]),
    self: null,
    reviewers: new Map([["100002", chatId]]),
    report: {
      target: { chatId, gameId: null, guildId },
      seeds: [chatId],
      games: [],
      candidates: 26,
      matches: [
        {
          chatId: "100003" as ChatId,
          gameId: null,
          weight: 1,
          freshness: now,
          evidence: [
            { kind: "review", weight: 1 },
            { kind: "game", weight: 0.9, gameId: "1" as GameId },
            { kind: "device", weight: 0.7, ...visit },
            { kind: "address", weight: 0.35, ...visit },
          ],
          resolved: { game: null, chat: { ...aChat, displayName: text } },
        },
      ],
      risk: { score: 90, severity: "CRITICAL", alt: 90, vpn: 10, unlistedWeight: 0.95 },
      places: 2,
      warnings: [text],
    },
  };
};

export const makeVisitor = (name: string): Visitor => ({
  account: { name, tier: "free" },
  role: "owner",
  userName: name,
  hasChoice: true,
  csrf: "token",
  platforms: { chat: name, game: name },
});

export const makeEntry = (chosen: Partial<AuditEntry> = {}): AuditEntry => ({
  sequence: 1,
  at: now,
  account: "acme",
  pid: null,
  action: "key.created",
  actor: { type: "account", id: "acme", member: chatId },
  requestId: null,
  details: {},
  ...chosen,
});

const groups: ReadonlyArray<UsageGroup> = ["lookup", "bulk", "write", "alts", "session"];

/** Days on which each group of routes has the same counts. */
export const makeDays = (count: number, served: number, refused: number): ReadonlyArray<UsageDay> =>
  Array.from({ length: count }, (_, index) => ({
    day: `2026-11-${String(index + 1).padStart(2, "0")}`,
    groups: groups.map((group) => ({ group, served, refused, errors: 0 })),
  }));

export const makeCommunity = (text: string): Community => ({
  scope,
  settings: { displayName: text, supportUrl: text, doneText: text },
  links: { count: 0, age: 0 },
  keys: 1,
  hasActiveKey: true,
  redirectOrigins: [text],
  guildName: text,
});

export const makeNamedLink = (text: string) => {
  const gameId = "1" as GameId;
  const unknown = { avatar: null, created: null };
  const named = { username: text, displayName: text };
  return {
    link: { chatId, gameId, linkVersion: 1, linkedAt: now, lastVerifiedAt: now },
    chat: { id: chatId, ...named, ...unknown, banner: null, guild: null },
    game: {
      id: gameId,
      ...named,
      ...unknown,
      description: null,
      isBanned: null,
      hasVerifiedBadge: null,
      badges: null,
      groups: null,
    },
  };
};

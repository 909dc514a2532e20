import { AuditLog, ChatId, EventStore, GameId, GuildId, KeyId } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { placeOf } from "@accountlink/core/addresses";
import { AltReviewStore, SuspectStore } from "@accountlink/core/alts";
import { CommunityStore } from "@accountlink/core/communities";
import { GuildLogStore } from "@accountlink/core/guild_log";
import { UploadStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { SignInStore } from "@accountlink/core/sign_ins";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { type WebhookId, WebhookStore } from "@accountlink/core/webhooks";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { makeDelivery, makeKey, makeSession } from "@accountlink/testing";
import { Effect, Option, Struct } from "effect";
import { memoryKv } from "../mod.ts";
import {
  keysLeft,
  makeScope,
  onStorage,
  origin,
  pid,
  scopeRef as scope,
  storeEarlier,
} from "./test_storage.ts";

const chatId = ChatId.make("100001");

test("members, communities, reviews, likely alts, sightings, sessions, sign-ins, webhooks, logs and uploads of an earlier release are carried over, without deleted ones", function* () {
  const kv = memoryKv();
  yield* onStorage(kv, makeScope);
  const otherChatId = ChatId.make("100000");
  const review = { chatId, otherChatId, verdict: "same", note: "Twins", at: 5, keyId: null } as const;
  const gameId = GameId.make("1");
  const suspect = { chatId, otherChatId, gameId, at: 6, score: 90, evidence: [] };
  const signIn = { id: "hash", site: "me", chatId, account: null, guilds: null, device: null };
  const until = { createdAt: 1, expiresAt: 9_000 };
  const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };
  const webhookId = "wh_0123456789abcdefghij" as WebhookId;
  const webhook = {
    id: webhookId,
    url: "https://example.com",
    types: [],
    description: "Bot",
    status: "active",
    disabledReason: null,
    createdAt: 1,
    lastDeliveredAt: null,
    failingSince: 3,
    secrets: [{ sealed: "sealed", endsAt: null }],
  };
  const delivery = makeDelivery({ nextAttemptAt: 5, position: 1, lanes: ["a", "b"] });
  const place = { pid, guildId: GuildId.make("200001") };
  const log = { ...place, channelId: "5", position: 7, closedAt: null, problems: [], holder: null };
  const entry = { is: "refused", chatId, gameId: null, why: "blocked" };
  const line = { text: "Ada", chatIds: [chatId] };
  const message = { channelId: "5", messageId: "9", lines: [line], at: 3, erasedAt: 4, editAt: 4 };
  const problem = { chatId, roleId: "7", reason: "role_missing", at: 5 };
  const entryOf = (time: number, id: number) =>
    [["log_entry", pid, place.guildId, time, id], { ...place, time, id, entry, at: 2 }] as const;
  const read = { pid: null, phase: "reading", details: "", holder: "node", heldUntil: 9_000 };
  const counts = { inserted: 1, replaced: 2, unchanged: 3, kept: 4 };
  const upload = { ...read, id: "1", account: "acme", counts, begunAt: 1, expiresAt: 9_000 };
  const files = { upload: { parts: 1, size: 1 } };
  const paused = { at: 7, why: null, by: { type: "account", id: chatId } };
  const panels = [{ channelId: "5", messageId: "8", text: null }];
  const community = { homeSince: 3, paused, settings: { remindAfterDays: 4 }, panels };
  const [keyId, used] = [KeyId.make("Aa0Bb1Cc2Dd3"), { served: 1, refused: 2, errors: 3 }];
  const session = makeSession({ id: keyId, scope: { kind: "global", pid, account: "acme" } });
  const code = { hash: "code", sealedSid: "sealed sid" };
  const member = { chatId, role: "admin", since: 3, chosenAt: 4, invitedBy: otherChatId };
  const tables = yield* storeEarlier(kv, [
    [["member", 1, chatId], { account: 1, ...member }],
    [["member.byUser", chatId, 1], "entry"],
    [["community", pid, place.guildId], { ...place, scope, ...community }],
    [["preview", pid, place.guildId], { ...place, preview: {}, savedAt: 5 }],
    [["import", "1"], { ...upload, files }],
    [["part_of_file", "1", "upload", 0], { id: "1", file: "upload", part: 0, text: "AQ==" }],
    [["guild_log", pid, place.guildId], { ...log, scope, edits: 1, time: 1 }],
    [["log_message", pid, place.guildId, "9"], { ...place, ...message }],
    entryOf(0, 1),
    entryOf(1, 2),
    [["webhook", webhookId], { webhook, scope, position: 7, holder: null }],
    [["delivery", webhookId, delivery.eventId], { webhook: webhookId, delivery }],
    [["review", pid, otherChatId, chatId], { pid, epoch: 1, review }],
    ...["review.byUser", "community.byPauser", "webhook.byHolder", "delivery.due", "import.byEnd"].map(
      (index) => [[index, chatId, pid], "entry"] as const,
    ),
    [["review", pid, "1", "2"], { pid, epoch: 0, review: { ...review, chatId: "1", otherChatId: "2" } }],
    [["suspect", pid, 1, chatId, otherChatId], { pid, epoch: 1, suspect }],
    [["plan_problem", 1, chatId], { ref: 1, ...place, chatId, problems: [problem] }],
    ...[
      { epoch: 1, sighting: { chatId, address, seenAt: 5 }, firstSeenAt: 3 },
      { epoch: 1, sighting: { chatId, browser: "browser", seenAt: 4 }, firstSeenAt: 2 },
      { epoch: 0, sighting: { chatId, browser: "deleted", seenAt: 4 }, firstSeenAt: 2 },
    ].map((value) => [["sighting", pid, chatId, placeOf(value.sighting)], { pid, ...value }] as const),
    [["session", session.id], { session, code, changedAt: 4 }],
    [["burst", keyId], { key: keyId, fullAt: 9_000 }],
    [["sign_in", "hash"], { ...signIn, ...until }],
    [["begun_sign_in", "state"], { stateHash: "state", site: "me", expiresAt: 9_000 }],
    [["usage", keyId, 0, "bulk"], { key: keyId, day: 0, group: "bulk", ...used }],
    [["meter", "m"], { meter: "m", sequence: 1, day: 0, parts: 2 }],
  ]);

  const carriedOver = Effect.gen(function* () {
    const [reviews, suspects, signIns] = [yield* AltReviewStore, yield* SuspectStore, yield* SignInStore];
    const members = yield* MemberStore;
    expect(yield* members.list("acme")).toEqual([{ ...member, scopes: null }]);
    expect((yield* members.findByChatId(chatId)).map(({ account }) => account.name)).toEqual(["acme"]);
    const communities = yield* CommunityStore;
    const shown = {
      paused,
      panels,
      remindAfterDays: 4,
      tellTroubles: true,
      scope: { pid, account: "acme" },
    };
    expect(Option.getOrThrow(yield* communities.find(place))).toMatchObject({ homeSince: 3, ...shown });
    expect(yield* reviews.findByChatId(pid, chatId, null)).toEqual([review]);
    expect(yield* suspects.find(pid, 0)).toEqual([{ ...suspect, verdict: "same" }]);
    expect(yield* signIns.list("me", chatId, 2)).toEqual([{ ...signIn, ...until }]);
    const webhooks = yield* WebhookStore;
    const [found] = yield* webhooks.list({ account: "acme", id: null });
    expect(found).toMatchObject({
      description: "Bot",
      failingSince: 3,
      scope: { pid, account: "acme" },
      pending: 1,
    });
    expect(yield* webhooks.due(webhookId, 5, 9)).toEqual([delivery]);
    const logs = yield* GuildLogStore;
    const [held] = yield* logs.hold({ node: "node", at: 1, until: 9, limit: 1 });
    expect(held).toMatchObject({ guildId: place.guildId, position: 7, waitsSince: 2, editAt: 4 });
    expect((yield* logs.waiting(place, 9)).map(({ id }) => id)).toEqual([2]);
    const { channelId, messageId, lines, erasedAt } = message;
    expect(yield* logs.dueEdits(place, 4, 9)).toEqual([{ channelId, messageId, lines, erasedAt }]);
    expect(yield* signIns.takeBegun("me", "state", 2)).toBe(true);
    const sessions = yield* SessionStore;
    expect(yield* sessions.find(session.id)).toEqual(Option.some(session));
    expect(yield* sessions.findByCode(code.hash, 2)).toEqual({ sealedSid: code.sealedSid });
    expect(yield* sessions.changedSince(4, null)).toEqual([session.id]);
    const usage = yield* UsageStore;
    expect(yield* usage.days({ key: keyId }, 0)).toEqual([{ from: 0, group: "bulk", ...used }]);
    yield* usage.forget(1);
    expect(yield* usage.days({ key: keyId }, 0)).toEqual([]);
    const users = yield* UserStore;
    const { roles, sightings, browsers, downloads } = yield* users.find(chatId);
    expect(downloads["pauses"]).toEqual([{ ...place, pausedAt: 7 }]);
    expect(roles).toMatchObject([{ ...place, problems: [problem] }]);
    expect(sightings).toEqual([{ pid, sighting: { chatId, address, seenAt: 5 } }]);
    const seen = { chatId, browser: "browser", seenAt: 4 };
    expect(browsers).toEqual([{ pid, sighting: seen, firstSeenAt: 2 }]);
    const uploads = yield* UploadStore;
    const hold = { id: "1", node: "node", at: 1, until: 9 };
    expect(yield* uploads.begin({ ...hold, id: "2", account: "acme", room: 9 })).toBe(false);
    expect(yield* uploads.save({ ...hold, pid, phase: "ready", details: "{}" })).toBe(true);
    expect(yield* uploads.find("acme", 2)).toEqual(
      Option.some({ id: "1", account: "acme", pid, phase: "ready", details: "{}", counts }),
    );
    expect(yield* uploads.readPart("1", { file: "upload", part: 0 })).toEqual(Option.some(Uint8Array.of(1)));
  });
  yield* onStorage(kv, carriedOver);
  expect(yield* keysLeft(kv, tables)).toEqual([]);
});

test("the entries and events of an earlier release are carried over, and a feed goes on from its position", function* () {
  const kv = memoryKv();
  yield* onStorage(kv, makeScope);
  const event = { id: "evt_1", type: "link.set", at: 5, position: 7, data: { chatId, gameId: "1" } };
  const entry = {
    ...origin,
    sequence: 500,
    at: 5,
    account: 1,
    pid,
    action: "link.set",
    details: { chatId },
  };
  const tables = yield* storeEarlier(kv, [
    [["event", pid, 7], { pid, event }],
    [["feed", pid], { pid, start: 6, end: 7 }],
    [["audit", 1, 500], entry],
  ]);

  const carriedOver = Effect.gen(function* () {
    const [events, log] = [yield* EventStore, yield* AuditLog];
    expect(yield* events.range(pid)).toEqual({ start: 6, end: 7 });
    expect(Option.getOrThrow(yield* events.read(pid, 6, 10))).toEqual([{ ...event, entry: null }]);
    expect(yield* log.list("acme", null, 10, { action: null, keyId: null, chatId })).toEqual({
      entries: [{ ...entry, account: "acme" }],
      next: null,
    });
  });
  yield* onStorage(kv, carriedOver);
  expect(yield* keysLeft(kv, tables)).toEqual([]);
});

test("keys and their secrets, and suspended owners, of an earlier release are carried over", function* () {
  const kv = memoryKv();
  const made = makeKey(yield* onStorage(kv, makeScope), { expiresAt: 90 });
  const { madeBy: _, ...rest } = made;
  const kept = Struct.omit(rest, ["suspended", "scope"]);
  const secrets = [
    { hash: "old", endsAt: 50 },
    { hash: "new", endsAt: null },
  ];
  const tables = yield* storeEarlier(kv, [
    [["key", made.id], { key: kept, scope, counts: true, secrets, revokedAt: null }],
    [["key.byHash", "new", made.id], "entry"],
    [["suspended", "owner"], { hash: "owner" }],
  ]);

  const carriedOver = Effect.gen(function* () {
    const keys = yield* KeyStore;
    expect(yield* keys.findByHash("old")).toEqual(Option.some({ key: made, endsAt: 50 }));
    expect(yield* keys.findByHash("new")).toEqual(Option.some({ key: made, endsAt: 90 }));
    expect(yield* keys.countKeys("acme")).toBe(1);
    const owner = { name: "ada", chatId, tier: "free" } as const;
    expect((yield* keys.ensureAccount(owner, "owner")).status).toBe("suspended");
  });
  yield* onStorage(kv, carriedOver);
  expect(yield* keysLeft(kv, tables)).toEqual([]);
});

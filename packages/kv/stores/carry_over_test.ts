import { AuditLog, ChatId, EventStore, GameId, GuildId, KeyId, Pid } from "@accountlink/core";
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
import { makeDelivery, makeKey, makeSession } from "@accountlink/testing";
import { Effect, Layer, Option, Struct } from "effect";
import { expect, it } from "vitest";
import { encode } from "../keys.ts";
import { type Kv, layer, memoryKv } from "../mod.ts";

const pid = Pid.make("pid_0123456789abcdefghij");
const chatId = ChatId.make("100001");
const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;

const open = (kv: Kv) => Layer.build(Layer.fresh(layer(Effect.succeed(kv))));

it("members, communities, reviews, likely alts, sightings, sessions, sign-ins, webhooks, logs and uploads of an earlier release are carried over, without deleted ones", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    const keys = yield* Effect.provideContext(KeyStore, yield* open(kv));
    yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
    yield* keys.ensureScope("acme", { kind: "global" }, pid);
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
    const scope = { pid, account: 1, target: { kind: "global" } };
    const delivery = makeDelivery({ nextAttemptAt: 5, position: 1, lanes: ["a", "b"] });
    const place = { pid, guildId: GuildId.make("200001") };
    const log = { ...place, channelId: "5", position: 7, closedAt: null, problems: [], holder: null };
    const entry = { is: "refused", chatId, gameId: null, why: "blocked" };
    const line = { text: "Ada", chatIds: [chatId] };
    const message = { channelId: "5", messageId: "9", lines: [line], at: 3, erasedAt: 4, editAt: 4 };
    const problem = { chatId, roleId: "7", reason: "role_missing", at: 5 };
    const entryOf = (time: number, id: number) => ({
      key: encode(["log_entry", pid, place.guildId, time, id]),
      value: { ...place, time, id, entry, at: 2 },
    });
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
    const stored = [
      { key: encode(["member", 1, chatId]), value: { account: 1, ...member } },
      { key: encode(["member.byUser", chatId, 1]), value: "entry" },
      {
        key: encode(["community", pid, place.guildId]),
        value: { ...place, scope, ...community },
      },
      { key: encode(["preview", pid, place.guildId]), value: { ...place, preview: {}, savedAt: 5 } },
      { key: encode(["import", "1"]), value: { ...upload, files } },
      {
        key: encode(["part_of_file", "1", "upload", 0]),
        value: { id: "1", file: "upload", part: 0, text: "AQ==" },
      },
      { key: encode(["guild_log", pid, place.guildId]), value: { ...log, scope, edits: 1, time: 1 } },
      { key: encode(["log_message", pid, place.guildId, "9"]), value: { ...place, ...message } },
      entryOf(0, 1),
      entryOf(1, 2),
      { key: encode(["webhook", webhookId]), value: { webhook, scope, position: 7, holder: null } },
      { key: encode(["delivery", webhookId, delivery.eventId]), value: { webhook: webhookId, delivery } },
      { key: encode(["review", pid, otherChatId, chatId]), value: { pid, epoch: 1, review } },
      ...["review.byUser", "community.byPauser", "webhook.byHolder", "delivery.due", "import.byEnd"].map(
        (index) => ({ key: encode([index, chatId, pid]), value: "entry" }),
      ),
      {
        key: encode(["review", pid, "1", "2"]),
        value: { pid, epoch: 0, review: { ...review, chatId: "1", otherChatId: "2" } },
      },
      { key: encode(["suspect", pid, 1, chatId, otherChatId]), value: { pid, epoch: 1, suspect } },
      {
        key: encode(["plan_problem", 1, chatId]),
        value: { ref: 1, ...place, chatId, problems: [problem] },
      },
      ...[
        { epoch: 1, sighting: { chatId, address, seenAt: 5 }, firstSeenAt: 3 },
        { epoch: 1, sighting: { chatId, browser: "browser", seenAt: 4 }, firstSeenAt: 2 },
        { epoch: 0, sighting: { chatId, browser: "deleted", seenAt: 4 }, firstSeenAt: 2 },
      ].map((value) => ({
        key: encode(["sighting", pid, chatId, placeOf(value.sighting)]),
        value: { pid, ...value },
      })),
      { key: encode(["session", session.id]), value: { session, code, changedAt: 4 } },
      { key: encode(["burst", keyId]), value: { key: keyId, fullAt: 9_000 } },
      { key: encode(["sign_in", "hash"]), value: { ...signIn, ...until } },
      {
        key: encode(["begun_sign_in", "state"]),
        value: { stateHash: "state", site: "me", expiresAt: 9_000 },
      },
      { key: encode(["usage", keyId, 0, "bulk"]), value: { key: keyId, day: 0, group: "bulk", ...used } },
      { key: encode(["meter", "m"]), value: { meter: "m", sequence: 1, day: 0, parts: 2 } },
    ];
    yield* kv.commit(
      [],
      stored.map(({ key, value }) => ({ key, value: JSON.stringify(value) })),
    );

    const context = yield* open(kv);
    const [reviews, suspects, signIns] = [
      yield* Effect.provideContext(AltReviewStore, context),
      yield* Effect.provideContext(SuspectStore, context),
      yield* Effect.provideContext(SignInStore, context),
    ];

    const members = yield* Effect.provideContext(MemberStore, context);
    expect(yield* members.list("acme")).toEqual([{ ...member, scopes: null }]);
    expect((yield* members.findByChatId(chatId)).map(({ account }) => account.name)).toEqual(["acme"]);
    const communities = yield* Effect.provideContext(CommunityStore, context);
    const shown = { paused, panels, remindAfterDays: 4, tellTroubles: true, scope: { pid, account: "acme" } };
    expect(Option.getOrThrow(yield* communities.find(place))).toMatchObject({ homeSince: 3, ...shown });
    expect(yield* communities.pausedBy(chatId)).toEqual([{ ...place, at: 7 }]);
    expect(yield* reviews.findByChatId(pid, chatId, null)).toEqual([review]);
    expect(yield* suspects.find(pid, 0)).toEqual([{ ...suspect, verdict: "same" }]);
    expect(yield* signIns.list("me", chatId, 2)).toEqual([{ ...signIn, ...until }]);
    const webhooks = yield* Effect.provideContext(WebhookStore, context);
    const [found] = yield* webhooks.list({ account: "acme", id: null });
    expect(found).toMatchObject({
      description: "Bot",
      failingSince: 3,
      scope: { pid, account: "acme" },
      pending: 1,
    });
    expect(yield* webhooks.due(webhookId, 5, 9)).toEqual([delivery]);
    const logs = yield* Effect.provideContext(GuildLogStore, context);
    const [held] = yield* logs.hold({ node: "node", at: 1, until: 9, limit: 1 });
    expect(held).toMatchObject({ guildId: place.guildId, position: 7, waitsSince: 2, editAt: 4 });
    expect((yield* logs.waiting(place, 9)).map(({ id }) => id)).toEqual([2]);
    const { channelId, messageId, lines, erasedAt } = message;
    expect(yield* logs.dueEdits(place, 4, 9)).toEqual([{ channelId, messageId, lines, erasedAt }]);
    expect(yield* signIns.takeBegun("me", "state", 2)).toBe(true);
    const sessions = yield* Effect.provideContext(SessionStore, context);
    expect(yield* sessions.find(session.id)).toEqual(Option.some(session));
    expect(yield* sessions.findSealedSid(code.hash, 2)).toEqual(Option.some(code.sealedSid));
    expect(yield* sessions.changedSince(4, null)).toEqual([session.id]);
    const usage = yield* Effect.provideContext(UsageStore, context);
    expect(yield* usage.days({ key: keyId }, 0)).toEqual([{ from: 0, group: "bulk", ...used }]);
    yield* usage.forget(1);
    expect(yield* usage.days({ key: keyId }, 0)).toEqual([]);
    const users = yield* Effect.provideContext(UserStore, context);
    const { roles, sightings, browsers } = yield* users.find(chatId);
    expect(roles).toMatchObject([{ ...place, problems: [problem] }]);
    expect(sightings).toEqual([{ pid, sighting: { chatId, address, seenAt: 5 } }]);
    const seen = { chatId, browser: "browser", seenAt: 4 };
    expect(browsers).toEqual([{ pid, sighting: seen, firstSeenAt: 2 }]);
    const uploads = yield* Effect.provideContext(UploadStore, context);
    const hold = { id: "1", node: "node", at: 1, until: 9 };
    expect(yield* uploads.begin({ ...hold, id: "2", account: "acme", room: 9 })).toBe(false);
    expect(yield* uploads.save({ ...hold, pid, phase: "ready", details: "{}" })).toBe(true);
    expect(yield* uploads.find("acme", 2)).toEqual(
      Option.some({ id: "1", account: "acme", pid, phase: "ready", details: "{}", counts }),
    );
    expect(yield* uploads.readPart("1", { file: "upload", part: 0 })).toEqual(Option.some(Uint8Array.of(1)));
    const left = yield* kv.list({ start: "", end: "~" }, { limit: 100, reverse: false });
    expect(
      left.filter(({ key }) =>
        /^(member|community|preview|review|plan_problem|suspect|sighting|session|burst|sign_in|begun_sign_in|webhook|delivery|guild_log|log_entry|log_message|import|part_of_file|usage|meter)\b/.test(
          key,
        ),
      ),
    ).toEqual([]);
  }).pipe(Effect.scoped, Effect.runPromise));

it("the entries and events of an earlier release are carried over, and a feed goes on from its position", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    const keys = yield* Effect.provideContext(KeyStore, yield* open(kv));
    yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
    yield* keys.ensureScope("acme", { kind: "global" }, pid);
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
    const stored = [
      { key: encode(["event", pid, 7]), value: { pid, event } },
      { key: encode(["feed", pid]), value: { pid, start: 6, end: 7 } },
      { key: encode(["audit", 1, 500]), value: entry },
    ];
    yield* kv.commit(
      [],
      stored.map(({ key, value }) => ({ key, value: JSON.stringify(value) })),
    );

    const context = yield* open(kv);
    const [events, log] = [
      yield* Effect.provideContext(EventStore, context),
      yield* Effect.provideContext(AuditLog, context),
    ];

    expect(yield* events.range(pid)).toEqual({ start: 6, end: 7 });
    expect(Option.getOrThrow(yield* events.read(pid, 6, 10))).toEqual([{ ...event, entry: null }]);
    expect(yield* log.list("acme", null, 10, { action: null, keyId: null, chatId })).toEqual({
      entries: [{ ...entry, account: "acme" }],
      next: null,
    });
    const left = yield* kv.list({ start: "", end: "~" }, { limit: 100, reverse: false });
    expect(left.filter(({ key }) => /^(audit|event|feed)\b/.test(key))).toEqual([]);
  }).pipe(Effect.scoped, Effect.runPromise));

it("keys and their secrets, and suspended owners, of an earlier release are carried over", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    const before = yield* Effect.provideContext(KeyStore, yield* open(kv));
    yield* before.ensureAccount({ name: "acme", chatId: null, tier: "free" });
    const known = yield* before.ensureScope("acme", { kind: "global" }, pid);
    const made = makeKey(known, { expiresAt: 90 });
    const { madeBy: _, ...rest } = made;
    const kept = Struct.omit(rest, ["suspended", "scope"]);
    const secrets = [
      { hash: "old", endsAt: 50 },
      { hash: "new", endsAt: null },
    ];
    const scope = { pid, account: 1, target: { kind: "global" } };
    const stored = [
      { key: encode(["key", made.id]), value: { key: kept, scope, counts: true, secrets, revokedAt: null } },
      { key: encode(["key.byHash", "new", made.id]), value: "entry" },
      { key: encode(["suspended", "owner"]), value: { hash: "owner" } },
    ];
    yield* kv.commit(
      [],
      stored.map(({ key, value }) => ({ key, value: JSON.stringify(value) })),
    );

    const keys = yield* Effect.provideContext(KeyStore, yield* open(kv));
    expect(yield* keys.findByHash("old")).toEqual(Option.some({ key: made, endsAt: 50 }));
    expect(yield* keys.findByHash("new")).toEqual(Option.some({ key: made, endsAt: 90 }));
    expect(yield* keys.countKeys("acme")).toBe(1);
    const owner = { name: "ada", chatId, tier: "free" } as const;
    expect((yield* keys.ensureAccount(owner, "owner")).status).toBe("suspended");
    const left = yield* kv.list({ start: "", end: "~" }, { limit: 100, reverse: false });
    expect(left.filter(({ key }) => /^(key|suspended)\b/.test(key))).toEqual([]);
  }).pipe(Effect.scoped, Effect.runPromise));

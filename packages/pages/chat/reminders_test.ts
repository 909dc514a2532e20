import { ChatPlatform, type GuildId, type Pid } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import { CommunityStore } from "@accountlink/core/communities";
import type { ChatId } from "@accountlink/core/ids";
import { KeyStore } from "@accountlink/core/keys";
import { UnlinkedMembers } from "@accountlink/core/owners";
import { RemindersPerMinute } from "@accountlink/core/reminders";
import { noPlan, RolePlanStore } from "@accountlink/core/roles";
import { Secrets } from "@accountlink/core/secrets";
import { dayMs } from "@accountlink/core/timestamp";
import { aheadBy, expect } from "@accountlink/test-servers/effect";
import { aMember } from "@accountlink/testing";
import { Clock, Effect, Layer, Scope } from "effect";
import { layerReminders } from "./reminders.ts";
import { passLooks, testWithTwoAccounts } from "./test_two_accounts.ts";

const allGuildIds = Array.from({ length: 12 }, (_, n) => `${70_001 + n}` as GuildId);
/** The guilds of most tests. */
const guildIds = allGuildIds.slice(0, 3);
const [manager, other] = ["100001", "100003"] as const;

/** Guilds of ten members without a link, who joined when the clock began. */
const guilds = allGuildIds.map((id) => ({
  id,
  name: `Guild ${id}`,
  bot: true,
  members: [
    ...[manager, other].map((chatId) =>
      aMember(chatId, { manager: true, joined: "1971-01-01T00:00:00.000Z" }),
    ),
    ...Array.from({ length: 10 }, (_, n) => aMember(`${id}00${n}`, { joined: "1970-01-01T00:00:01.000Z" })),
  ],
}));
const platform = { guilds, chatUsers: [], gameUsers: [] };

const test = testWithTwoAccounts([manager, other], platform);

const pass = (minutes: number) => passLooks(30 * minutes, "2 seconds");

/**
 * Reminds the members of each guild in a scope of an account.
 *
 * @param ahead how far the clock of the node is ahead, in milliseconds
 */
const remindIn = Effect.fnUntraced(function* (accounts: ReadonlyArray<string>, ahead = () => 0) {
  const sent: Array<Record<"chatId" | "guild" | "once", string> & { readonly at: number }> = [];
  const chat = yield* ChatPlatform;
  const [left, unanswered, refusing] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const observed = Layer.succeed(ChatPlatform, {
    ...chat,
    findMember: (guildId: GuildId, chatId: ChatId) =>
      left.has(chatId) ? Effect.succeedNone : chat.findMember(guildId, chatId),
    channels: {
      ...(chat.channels ?? expect.fail("no channels")),
      postPrivately: (chatId: string, _: object, once: string) =>
        Effect.map(Clock.currentTimeMillis, (at) => {
          sent.push({ chatId, guild: chatId.slice(0, 5), once, at });
          if (refusing.has(chatId.slice(0, 5))) return "refused";
          return unanswered.has(chatId) ? "unanswered" : "sent";
        }),
    },
  });
  const [keys, plans, communities] = [yield* KeyStore, yield* RolePlanStore, yield* CommunityStore];
  const by = { actor: { type: "operator", id: "ada" }, requestId: null, at: 0, position: 0 } as const;
  const remind = Effect.fnUntraced(function* (account: string, guildId: GuildId) {
    const wanted = `pid_${account}0123456789abcdef` as Pid;
    const { pid } = yield* keys.ensureScope(account, { kind: "global" }, wanted);
    yield* plans.put({ ...by, pid, guildId, settings: { ...noPlan, state: "on" } });
    yield* communities.update({ ...by, pid, guildId, update: { remindAfterDays: 1 } });
    return pid;
  });
  const pause = (pid: Pid, guildId: GuildId) => plans.put({ ...by, pid, guildId, settings: noPlan });
  const pids: Array<Pid> = [];
  for (const [index, account] of accounts.entries()) {
    const guildId = allGuildIds[index] as GuildId;
    const pid = yield* remind(account, guildId);
    pids.push(pid);
    // Linking goes on while the rules are paused.
    if (index === 0) yield* pause(pid, guildId);
  }
  // The test counts the members of two days later, since two days would take long to pass.
  const unlinked = yield* UnlinkedMembers;
  const looks = { now: 0, most: 0 };
  const lasting = Layer.succeed(UnlinkedMembers, {
    ...unlinked,
    toRemind: (scope, guildId, before) =>
      Effect.suspend(() => {
        looks.most = Math.max(looks.most, ++looks.now);
        return Effect.delay(unlinked.toRemind(scope, guildId, before + 2 * dayMs), "1 second");
      }).pipe(Effect.ensuring(Effect.sync(() => looks.now--))),
  });
  const life = yield* Scope.make();
  const perMinute = 2;
  const reminders = Layer.provide(layerReminders, [
    observed,
    lasting,
    Layer.succeed(RemindersPerMinute, perMinute),
  ]);
  yield* aheadBy(ahead)(Layer.buildWithScope(reminders, life));
  const begun = yield* Clock.currentTimeMillis;
  const [pid = expect.fail("no scope")] = pids;
  return { sent, left, unanswered, refusing, looks, plans, remind, pause, pid, perMinute, begun };
});

test("all communities share the bound of a minute, in turns, and are told if it holds them back", function* () {
  const { sent, plans, perMinute, pid, begun } = yield* remindIn(["acme", "acme", "acme"]);
  yield* pass(6);
  expect(sent.length).toBe(12);
  expect(new Set(sent.slice(0, 3).map(({ guild }) => guild)).size).toBe(3);
  for (const { at } of sent) {
    const inMinute = sent.filter((each) => each.at >= at && each.at < at + 60_000);
    expect(inMinute.length).toBeLessThanOrEqual(perMinute);
  }
  expect(sent[0]?.at).toBeGreaterThanOrEqual(begun + 30_000);
  const problems = yield* Effect.forEach(guildIds, (guildId) => plans.status({ pid, guildId }));
  expect(problems.map((status) => status.problems.map(({ reason }) => reason))).toEqual(
    guildIds.map(() => ["reminders_held"]),
  );
  yield* pass(20);
  expect(sent.length).toBe(30);
  const last = yield* Effect.forEach(guildIds, (guildId) => plans.status({ pid, guildId }));
  expect(last.flatMap((status) => status.problems)).toEqual([]);
});

test("of many communities, a few at a time look for the members to remind", function* () {
  const { sent, looks } = yield* remindIn(allGuildIds.map(() => "acme"));
  yield* pass(6);
  expect([looks.most, new Set(sent.map(({ guild }) => guild)).size]).toEqual([4, 12]);
});

test("members are reminded after the clock, which was a day ahead, is set back", function* () {
  let ahead = dayMs;
  const { sent } = yield* remindIn(["acme", "acme", "acme"], () => ahead);
  yield* pass(2);
  const before = sent.length;
  ahead = 0;
  yield* pass(4);
  expect([before, sent.length]).toEqual([4, 12]);
});

test("an account that reminds in many communities leaves another account every other turn", function* () {
  const { sent } = yield* remindIn(["acme", "acme", "club"]);
  yield* pass(6);
  const isClubs = sent.map(({ guild }) => guild === guildIds[2]);
  expect(isClubs.length).toBe(12);
  // The other account may have two turns before the club waits for its first.
  for (const [index, is] of isClubs.slice(2).entries()) expect(is).toBe(!isClubs[index + 1]);
});

test("who leaves or is blocked while others are reminded gets no reminder", function* () {
  const { sent, left, pid } = yield* remindIn(["acme", "acme", "acme"]);
  yield* pass(2);
  const isReminded = (chatId: string) => sent.some((each) => each.chatId === chatId);
  const open = Array.from({ length: 10 }, (_, n) => `${guildIds[0]}00${n}`).filter((id) => !isReminded(id));
  const [leaver, blocked] = open as unknown as readonly [ChatId, ChatId];
  left.add(leaver);
  const { blockHash } = yield* Secrets;
  yield* (yield* BlockStore).set({
    actor: { type: "operator", id: "ada" },
    requestId: null,
    pid,
    at: 0,
    chatId: blocked,
    gameId: null,
    hash: yield* blockHash(pid, { chatId: blocked, gameId: null }),
    reason: null,
  });
  yield* pass(24);
  expect(sent.length).toBe(28);
  expect([isReminded(leaver), isReminded(blocked)]).toEqual([false, false]);
});

test("an unanswered reminder is sent again within a minute, as the same message, and never later", function* () {
  const { sent, unanswered } = yield* remindIn(["acme", "acme", "acme"]);
  const member = `${guildIds[0]}000`;
  unanswered.add(member);
  yield* pass(26);
  expect(new Set(sent.map(({ chatId }) => chatId)).size).toBe(30);
  const [first, ...again] = sent.filter(({ chatId }) => chatId === member);
  expect(again.map(({ once }) => once)).toEqual(again.map(() => first?.once));
  expect(again.map(({ at }) => at - (first?.at ?? 0))).toEqual([15_000, 30_000, 45_000]);
});

test("after three refusals in a row, no other list of the guild reminds its members for an hour", function* () {
  const { sent, refusing, remind, pid, pause } = yield* remindIn(["acme"]);
  const [guildId = expect.fail("no guild")] = guildIds;
  refusing.add(guildId);
  yield* pass(4);
  expect(sent.length).toBe(3);
  yield* pause(pid, guildId);
  yield* remind("club", guildId);
  yield* pass(10);
  expect(sent.length).toBe(3);
  refusing.clear();
  yield* pass(75);
  expect(sent.length).toBe(10);
});

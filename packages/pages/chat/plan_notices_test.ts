/** Who turned the rules of a community on is told when they stop. */
import { ChatId, ChatPlatform, type GuildId, type Pid, StorageUse } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { CommunityStore, type PauseReason } from "@accountlink/core/communities";
import { KeyStore } from "@accountlink/core/keys";
import type { PrivateOutcome } from "@accountlink/core/platforms";
import { noPlan, RolePlanStore } from "@accountlink/core/roles";
import { UserData } from "@accountlink/core/users";
import { aheadBy, expect } from "@accountlink/test-servers/effect";
import { aMember, MemoryWorld } from "@accountlink/testing";
import { Clock, Duration, Effect, Exit, Layer, Scope, Struct } from "effect";
import { TestClock } from "effect/testing";
import { layerPlanNotices } from "./plan_notices.ts";
import { passLooks, testWithTwoAccounts } from "./test_two_accounts.ts";

const guildId = "70001" as GuildId;
const [ada, bob, cleo] = ["100001", "100002", "100003"] as const;

const platform = {
  guilds: [{ id: guildId, name: "The *Crew*", bot: true, members: [aMember(ada, { manager: true })] }],
  chatUsers: [],
  gameUsers: [],
};

const test = testWithTwoAccounts([ada, cleo], platform);

const pass = (seconds: number) => passLooks(seconds, "1 second");

const world = Effect.gen(function* () {
  const [keys, plans, communities] = [yield* KeyStore, yield* RolePlanStore, yield* CommunityStore];
  const { pid } = yield* keys.ensureScope("acme", { kind: "global" }, "pid_0123456789abcdefghij" as Pid);
  const place = { pid, guildId };
  const sent: Array<{ readonly to: string; readonly text: string; readonly once: string }> = [];
  const answers: Array<PrivateOutcome | "never"> = [];
  const chat = yield* ChatPlatform;
  const observed = Layer.succeed(ChatPlatform, {
    ...chat,
    channels: {
      ...(chat.channels ?? expect.fail("no channels")),
      postPrivately: (to: string, { content = "" }: { readonly content?: string }, once: string) =>
        Effect.suspend(() => {
          sent.push({ to, text: content, once });
          const answer = answers.shift() ?? "sent";
          return answer === "never" ? Effect.never : Effect.succeed(answer);
        }),
    },
  });
  const origin = (member: string | null) =>
    member === null
      ? ({ actor: { type: "operator", id: "root" }, requestId: null } as const)
      : ({ actor: { type: "account", id: "acme", member }, requestId: null } as const);
  // On the test clock, every loop of the service would run through a day that passes.
  let ahead = 0;
  const ofToday = aheadBy(() => ahead);
  const now = ofToday(Clock.currentTimeMillis);
  const turn = Effect.fnUntraced(function* (state: "on" | "paused", member: string | null = ada) {
    const at = yield* now;
    yield* plans.put({ ...origin(member), ...place, at, position: 0, settings: { ...noPlan, state } });
  });
  const pauseFor = Effect.fnUntraced(function* (why: PauseReason) {
    yield* plans.pause({ ...origin(null), ...place, why, at: yield* now });
  });
  const nodes: Array<Effect.Effect<void>> = [];
  const startNode = Effect.fnUntraced(function* (resting = false) {
    const life = yield* Scope.make();
    const use = yield* StorageUse;
    const rest = { reason: "restored", since: 0 } as const;
    const storage = Layer.succeed(StorageUse, resting ? Struct.assign(use, { resting: () => rest }) : use);
    yield* ofToday(
      Layer.buildWithScope(Layer.fresh(Layer.provide(layerPlanNotices, [observed, storage])), life),
    );
    nodes.push(Scope.close(life, Exit.void));
  });
  const stopNodes = Effect.suspend(() => Effect.all(nodes.splice(0), { discard: true }));
  /** Lets a long time pass without nodes, and starts one again. */
  const leap = (time: Duration.Input) =>
    stopNodes.pipe(
      Effect.andThen(Effect.sync(() => (ahead += Duration.toMillis(time)))),
      Effect.andThen(startNode()),
      Effect.andThen(pass(20)),
    );
  const setBack = Effect.sync(() => {
    ahead = 0;
  });
  return {
    place,
    sent,
    answers,
    turn,
    leap,
    setBack,
    stopNodes,
    pauseFor,
    startNode,
    plans,
    communities,
    origin,
    now,
  };
});

test("who turned the rules on is told of a pause by the service, once a day, over restarts and nodes", function* () {
  const { sent, turn, pauseFor, startNode, stopNodes, leap, place } = yield* world;
  yield* turn("on");
  yield* startNode();
  yield* startNode();
  yield* pass(3);
  expect(sent).toEqual([]);
  yield* pauseFor("many_would_lose");
  yield* pass(20);
  expect(sent.map(({ to }) => to)).toEqual([ada]);
  const page = `${MemoryWorld.publicUrl}/dashboard/communities/${place.pid}/roles?guildId=${guildId}`;
  expect(sent[0]?.text).toContain(`[rules of The \\*Crew\\*](<${page}>)`);
  expect(sent[0]?.text).toContain("because many members would have lost a role");

  yield* stopNodes;
  yield* turn("on");
  yield* pauseFor("unmanaged");
  yield* startNode();
  yield* pass(60);
  expect(sent.length).toBe(1);
  // A day after the last message the cause of now is told.
  yield* leap("1 day");
  expect(sent.length).toBe(2);
  expect(sent[1]?.text).toContain("nobody of your team managed the community");
  yield* pass(60);
  expect(sent.length).toBe(2);
});

test("nobody is told what a person paused, or turned on again before the message", function* () {
  const { sent, turn, pauseFor, startNode, place, plans, origin } = yield* world;
  yield* turn("on");
  yield* turn("paused");
  yield* startNode();
  yield* pass(20);
  yield* turn("on");
  yield* pauseFor("bot_removed");
  yield* turn("on");
  yield* pass(20);
  yield* pauseFor("bot_removed");
  yield* plans.remove({ ...origin(null), ...place, at: 0 });
  yield* pass(20);
  // Nobody of the team has turned these on.
  yield* turn("on", null);
  yield* pauseFor("bot_removed");
  yield* pass(20);
  expect(sent).toEqual([]);
});

test("only an accepted member whose community it is still, and was not erased, is told", function* () {
  const { sent, turn, pauseFor, startNode, place, communities, origin } = yield* world;
  const team = yield* MemberStore;
  const change = (type: "add" | "remove", by: string | null) =>
    team.change({
      ...origin(by),
      account: "acme",
      at: 0,
      change:
        type === "add"
          ? { type, chatId: ChatId.make(bob), role: "admin" }
          : { type, chatId: ChatId.make(bob) },
    });
  yield* startNode();
  const stops = Effect.fnUntraced(function* (member: string) {
    yield* turn("on", member);
    yield* pauseFor("unmanaged");
    yield* pass(20);
  });
  // An invitation that was not accepted.
  yield* change("add", ada);
  yield* stops(bob);
  yield* change("remove", ada);
  yield* stops(bob);
  const off = { ...origin(ada), ...place, position: 0, at: 0 };
  yield* communities.update({ ...off, update: { tellTroubles: false } });
  yield* stops(ada);
  yield* communities.update({ ...off, update: { tellTroubles: true } });
  yield* pass(20);
  yield* change("add", null);
  yield* turn("on", bob);
  yield* pauseFor("unmanaged");
  yield* (yield* UserData).erase(ChatId.make(bob), origin(null));
  yield* pass(20);
  expect(sent).toEqual([]);
  yield* change("add", null);
  yield* stops(bob);
  expect(sent.map(({ to }) => to)).toEqual([bob]);
});

test("a member with closed private messages gets none, and what the platform refuses of the bot waits an hour", function* () {
  const { sent, answers, turn, pauseFor, startNode, leap } = yield* world;
  answers.push("bot_refused", "unanswered", "closed");
  yield* turn("on");
  yield* startNode();
  yield* pauseFor("bot_removed");
  yield* pass(60);
  expect(sent.length).toBe(1);
  yield* leap("1 hour");
  // An unanswered message is sent again, as the same.
  expect([sent.length, sent[2]?.once]).toEqual([3, sent[1]?.once]);
  yield* leap("3 hours");
  expect(sent.length).toBe(3);
});

test("an account whose communities all pause at once delays nobody else's message", function* () {
  const { sent, startNode, place, plans, origin } = yield* world;
  const { pid } = yield* (yield* KeyStore).ensureScope(
    "club",
    { kind: "global" },
    "pid_other0123456789abc" as Pid,
  );
  const by = (account: string, member: string) =>
    ({ actor: { type: "account", id: account, member }, requestId: null }) as const;
  const stops = Effect.fnUntraced(function* (account: string, member: string, where: typeof place) {
    const at = yield* Clock.currentTimeMillis;
    const write = { ...where, at, position: 0 };
    yield* plans.put({ ...write, ...by(account, member), settings: { ...noPlan, state: "on" } });
    yield* plans.pause({ ...write, ...origin(null), why: "unmanaged" });
  });
  for (let guild = 0; guild < 50; guild++)
    yield* stops("acme", ada, { ...place, guildId: String(80_000 + guild) as GuildId });
  yield* startNode();
  yield* pass(10);
  expect(sent.map(({ to }) => to)).toEqual([ada, ada]);
  for (const guild of ["90001", "90002"]) yield* stops("club", cleo, { pid, guildId: guild as GuildId });
  // The messages that are due are read again after a minute. Then the two accounts take turns.
  yield* pass(80);
  const turns = sent.map(({ to }) => to);
  const first = turns.indexOf(cleo);
  expect(turns.slice(first, first + 3)).toEqual([cleo, ada, cleo]);
});

test("messages that nobody reads any more hold up no other", function* () {
  const { sent, turn, pauseFor, startNode, place, plans, communities, origin } = yield* world;
  for (let guild = 0; guild < 20; guild++) {
    const write = {
      ...origin(ada),
      ...place,
      guildId: String(80_000 + guild) as GuildId,
      at: 0,
      position: 0,
    };
    yield* plans.put({ ...write, settings: { ...noPlan, state: "on" } });
    yield* communities.update({ ...write, update: { tellTroubles: false } });
    yield* plans.pause({ ...write, ...origin(null), why: "unmanaged" });
  }
  yield* TestClock.adjust("1 second");
  yield* turn("on");
  yield* pauseFor("unmanaged");
  yield* startNode();
  yield* pass(10);
  expect(sent.map(({ to }) => to)).toEqual([ada]);
});

test("a node that dies while it sends leaves no second message to the next one", function* () {
  const { sent, answers, turn, pauseFor, startNode } = yield* world;
  answers.push("never");
  yield* turn("on");
  yield* startNode();
  yield* pauseFor("bot_removed");
  yield* pass(20);
  expect(sent.length).toBe(1);
  yield* startNode();
  yield* pass(20);
  expect(sent.length).toBe(1);
});

test("a lost right is told when it is new, and again only after it was given back", function* () {
  const { sent, turn, startNode, leap, place, plans, now } = yield* world;
  yield* turn("on");
  yield* startNode();
  const right = Effect.fnUntraced(function* (isLost: boolean) {
    yield* plans.setProblem(place, "no_permission", isLost ? yield* now : null);
    yield* pass(70);
  });
  yield* plans.setProblem(place, "reminders_held", yield* now);
  yield* pass(70);
  expect(sent).toEqual([]);
  yield* right(true);
  expect(sent.map(({ text }) => text)).toEqual([
    expect.stringContaining("the bot may not change a nickname"),
  ]);
  yield* leap("1 day");
  // The next comparison finds it again.
  yield* right(true);
  expect(sent.length).toBe(1);
  yield* right(false);
  yield* right(true);
  expect(sent.length).toBe(2);
});

test("a lost right is told after the clock, which was a day ahead, is set back", function* () {
  const { sent, turn, leap, setBack, place, plans, now } = yield* world;
  yield* leap("1 day");
  yield* setBack;
  yield* turn("on");
  yield* plans.setProblem(place, "no_permission", yield* now);
  yield* pass(10);
  expect(sent.length).toBe(1);
});

test("a lost right is told again after the clock, which was three days ahead, is set back", function* () {
  const { sent, turn, leap, setBack, place, plans, now } = yield* world;
  yield* leap("3 days");
  yield* turn("on");
  const right = Effect.fnUntraced(function* (isLost: boolean) {
    yield* plans.setProblem(place, "no_permission", isLost ? yield* now : null);
    yield* pass(70);
  });
  yield* right(true);
  expect(sent.length).toBe(1);
  yield* setBack;
  for (const isLost of [false, true, false, true]) yield* right(isLost);
  expect(sent.length).toBe(2);
});

test("a copy of the storage tells nobody until it is resumed", function* () {
  const { sent, turn, pauseFor, startNode, stopNodes } = yield* world;
  yield* turn("on");
  yield* pauseFor("bot_removed");
  yield* startNode(true);
  yield* pass(60);
  expect(sent).toEqual([]);
  yield* stopNodes;
  yield* startNode();
  yield* pass(20);
  expect(sent.length).toBe(1);
});

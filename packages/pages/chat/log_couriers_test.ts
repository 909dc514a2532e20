import { ChatId, ChatPlatform, GameId, type GuildId, LinkStore, type Pid } from "@accountlink/core";
import { CommunityStore } from "@accountlink/core/communities";
import { GuildLogStore } from "@accountlink/core/guild_log";
import { ImportStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { PostRefused } from "@accountlink/core/platforms";
import { noPlan, RolePlanStore } from "@accountlink/core/roles";
import { aheadBy, expect } from "@accountlink/test-servers/effect";
import { aMember } from "@accountlink/testing";
import { Clock, Effect, Layer, Logger } from "effect";
import { LogCouriers } from "./log_couriers.ts";
import { passLooks, testWithTwoAccounts } from "./test_two_accounts.ts";

const guildId = "70001" as GuildId;
const [ada, bob, cleo] = [ChatId.make("100001"), ChatId.make("100002"), "100003"] as const;

const test = testWithTwoAccounts([ada, cleo], {
  guilds: [{ id: guildId, name: "Crew", bot: true, members: [aMember(ada, { manager: true })] }],
  chatUsers: [],
  gameUsers: [],
});

const pass = (seconds: number) => passLooks(seconds, "1 second");

/** Runs the log of a community. Messages in the channel `closed` are refused. */
const world = Effect.gen(function* () {
  const [plans, communities, store] = [yield* RolePlanStore, yield* CommunityStore, yield* GuildLogStore];
  const wanted = "pid_0123456789abcdefghij" as Pid;
  const { pid } = yield* (yield* KeyStore).ensureScope("acme", { kind: "global" }, wanted);
  const place = { pid, guildId };
  const write = { ...place, actor: { type: "operator", id: "root" }, requestId: null, position: 0 } as const;
  yield* plans.put({ ...write, at: 0, settings: { ...noPlan, state: "on" } });
  const tellIn = (logChannelId: string) => communities.update({ ...write, at: 0, update: { logChannelId } });
  const done: Array<string> = [];
  const posted: Array<string> = [];
  const chat = yield* ChatPlatform;
  const observed = Layer.succeed(ChatPlatform, {
    ...chat,
    channels: {
      ...(chat.channels ?? expect.fail("no channels")),
      post: (channelId: string, { content = "" }: { readonly content?: string }) =>
        Effect.suspend(() => {
          done.push(`post in ${channelId}`);
          posted.push(...content.split("\n"));
          return channelId === "closed"
            ? new PostRefused({ reason: "channel_closed" })
            : Effect.succeed(String(done.length));
        }),
      edit: (channelId: string) =>
        Effect.suspend(() => {
          done.push("edit");
          return channelId === "closed"
            ? new PostRefused({ reason: "channel_closed" })
            : Effect.succeed(true);
        }),
    },
  });
  const warnings: Array<string> = [];
  const logger = Logger.make(({ message }) => void warnings.push(String(message)));
  const start = Effect.provide(
    Layer.build(Layer.fresh(Layer.provide(LogCouriers.layer, observed))),
    Logger.layer([logger]),
  );
  /** Stores messages about Bob, one in each channel. */
  const post = Effect.fnUntraced(function* (channels: ReadonlyArray<string>) {
    const nothing = { at: 0, position: 0, told: [], problems: [], closedAt: null };
    for (const [index, channelId] of channels.entries()) {
      const message = { channelId, messageId: `m${index}`, lines: [{ text: "Bob", chatIds: [bob] }] };
      yield* store.record({ ...place, ...nothing, node: "before", message });
    }
  });
  /** @param age how many days ago Bob was erased */
  const forgetBob = (age: number) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => store.forgetUser(bob, now - age * 86_400_000));
  const setProblem = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    plans.setProblem(place, "no_permission", now),
  );
  return { tellIn, start, setProblem, post, forgetBob, done, posted, warnings, write };
});

test("a problem that a closed channel did not tell is told in the next one", function* () {
  const { tellIn, start, setProblem, done } = yield* world;
  yield* tellIn("closed");
  yield* start;
  yield* pass(5);
  yield* setProblem;
  yield* pass(5);
  expect(done).toEqual(["post in closed"]);
  yield* tellIn("open");
  yield* pass(5);
  expect(done).toEqual(["post in closed", "post in open"]);
});

test("news waits for at most one of the edits that an erasure leaves", function* () {
  const { tellIn, start, setProblem, post, forgetBob, done } = yield* world;
  yield* tellIn("open");
  yield* post(Array.from({ length: 10 }, () => "open"));
  yield* start;
  yield* pass(5);
  yield* forgetBob(0);
  yield* setProblem;
  yield* pass(40);
  expect(done.indexOf("post in open")).toBeOneOf([0, 1]);
  expect(done.filter((each) => each === "edit").length).toBe(10);
});

test("messages of a suspended account are edited, and its log tells nothing", function* () {
  const { tellIn, start, setProblem, post, forgetBob, done } = yield* world;
  yield* tellIn("open");
  yield* post(["open"]);
  const actor = { type: "operator", id: "root" } as const;
  const suspend = { name: "acme", update: { status: "suspended" }, actor, requestId: null, at: 0 } as const;
  yield* KeyStore.use((keys) => keys.updateAccount(suspend));
  yield* forgetBob(0);
  yield* start;
  yield* setProblem;
  yield* pass(10);
  expect(done).toEqual(["edit"]);
});

test("after 30 days, a warning tells of a message that the bot may not edit, and of no other", function* () {
  const { tellIn, start, post, forgetBob, done, warnings } = yield* world;
  yield* tellIn("open");
  yield* post(["open", "closed"]);
  yield* forgetBob(31);
  yield* start;
  yield* pass(20);
  expect(done).toEqual(["edit", "edit"]);
  expect(warnings).toEqual(["Cannot take an erased user out of a message: the bot may not edit it"]);
});

test("a log goes on after the clock, which was an hour ahead, is set back", function* () {
  const { tellIn, start, posted, write } = yield* world;
  yield* tellIn("open");
  const links = yield* LinkStore;
  let ahead = 3_600_000;
  yield* aheadBy(() => ahead)(start);
  yield* links.setGame({ ...write, chatId: ada, gameId: GameId.make("1"), at: ahead });
  yield* pass(5);
  expect(posted).toHaveLength(1);
  ahead = 0;
  yield* links.removeGame({ ...write, chatId: ada, at: 6_000 });
  yield* pass(10);
  expect(posted).toHaveLength(2);
});

test("a log rests for nothing that a clock, which was a month ahead, has stored", function* () {
  const { tellIn, start, setProblem, post, forgetBob, done, posted, write } = yield* world;
  const month = 30 * 86_400_000;
  let ahead = month;
  const then = aheadBy(() => ahead);
  yield* tellIn("closed");
  yield* then(start);
  yield* then(setProblem);
  yield* pass(5);
  expect(done).toEqual(["post in closed"]);
  yield* post(["open"]);
  yield* then(forgetBob(0));
  const file = { progress: null, proof: "import", existing: "keep" } as const;
  const links = [{ chatId: ada, gameId: GameId.make("1"), lastVerifiedAt: 1 }];
  ahead = 0;
  yield* pass(20);
  expect(done.slice(1).toSorted()).toEqual(["edit", "post in closed"]);
  yield* tellIn("open");
  yield* ImportStore.use((imports) => imports.importBatch({ ...write, ...file, links, at: month }));
  yield* pass(10);
  expect(posted.at(-1)).toContain("imported");
});

test("the events of a user are told in order, although the clocks of two nodes differ", function* () {
  const { tellIn, start, posted, write } = yield* world;
  yield* tellIn("open");
  const links = yield* LinkStore;
  yield* links.setGame({ ...write, chatId: ada, gameId: GameId.make("1"), at: 2_000 });
  yield* links.removeGame({ ...write, chatId: ada, at: 1_000 });
  yield* start;
  yield* pass(5);
  expect(posted.map((line) => /was (?:un)?linked/.exec(line)?.[0])).toEqual(["was linked", "was unlinked"]);
});

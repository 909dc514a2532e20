import { CacheMemory } from "@accountlink/memory";
import { expect, test } from "@accountlink/test-servers/effect";
import { Context, Deferred, Effect, Fiber, Layer } from "effect";
import { TestClock } from "effect/testing";
import type { DataScope } from "../data_scope.ts";
import { type Conflict, PlatformUnavailable } from "../errors.ts";
import type { ChatId, GameId, GuildId, Pid } from "../ids.ts";
import { LinkStore } from "../links/link_store.ts";
import { ChatPlatform, type RoleMember } from "../platforms/chat_platform.ts";
import { TurnAccount } from "../turns/mod.ts";
import { MemberLists, mostListed } from "./member_lists.ts";
import { makeNameOrder, mostSorted, orderKeptFor } from "./name_order.ts";

const guildIdOf = (number: number) => String(700_000_000_000_000_000n + BigInt(number)) as GuildId;
const guildId = guildIdOf(1);
const chatIdAt = (index: number) => String(100_001 + index) as ChatId;

const memberAt = (index: number): RoleMember => ({
  chatId: chatIdAt(index),
  username: `user_${index}`,
  displayName: null,
  nickname: null,
  roleIds: [],
  isBot: index === 1,
});

/** A platform whose guilds have `size` members. It adds the position of each page it is asked for to `asked`. */
const platformOf = (
  sizes: number | ((guildId: GuildId) => number),
  asked: Array<number>,
  before: (position: number) => Effect.Effect<void, PlatformUnavailable> = () => Effect.void,
) => {
  const sizeOf = (guild: GuildId) => (typeof sizes === "number" ? sizes : sizes(guild));
  return Layer.mock(ChatPlatform)({
    roles: {
      findGuildRoles: (guild: GuildId) => Effect.succeedSome({ roles: [], memberCount: sizeOf(guild) }),
      membersPage: (guild: GuildId, after: ChatId | null) =>
        Effect.suspend(() => {
          const size = sizeOf(guild);
          const position = after === null ? 0 : Number(after) - 100_000;
          asked.push(position);
          const length = Math.min(1_000, size - position);
          const members = Array.from({ length }, (__, index) => memberAt(position + index));
          const next = position + length < size ? (members.at(-1)?.chatId ?? null) : null;
          return Effect.as(before(position), { members, next });
        }),
    } as never,
  });
};

const listsOn = (platform: Layer.Layer<ChatPlatform>) =>
  Effect.map(Layer.build(MemberLists.layer.pipe(Layer.provide(platform))), Context.get(MemberLists));

test("a list is read once for all who ask, without bots, and kept for six seconds for each 1,000 members", function* () {
  const asked: Array<number> = [];
  const lists = yield* listsOn(platformOf(2_001, asked));
  const found = yield* Effect.all([lists.find(guildId), lists.find(guildId)], { concurrency: 2 });
  expect(found.map(({ members }) => members.length)).toEqual([2_000, 2_000]);
  yield* TestClock.adjust("11 seconds");
  yield* lists.find(guildId);
  expect(asked).toEqual([0, 1_000, 2_000]);
  yield* TestClock.adjust("1 second");
  yield* lists.find(guildId);
  expect(asked).toHaveLength(6);
});

test("a list that nobody waits for any more is read to its end, and tells how far it is", function* () {
  const asked: Array<number> = [];
  const gate = yield* Deferred.make<void>();
  const lists = yield* listsOn(
    platformOf(3_000, asked, (position) => (position === 2_000 ? Deferred.await(gate) : Effect.void)),
  );
  const waiting = yield* Effect.forkChild(lists.find(guildId));
  yield* Effect.yieldNow;
  yield* Fiber.interrupt(waiting);
  expect(lists.progress(guildId)).toEqual({ done: 1_999, total: 3_000 });
  yield* Deferred.succeed(gate, undefined);
  const { members } = yield* lists.find(guildId);
  expect([members.length, lists.progress(guildId)]).toEqual([2_999, { done: 2_999, total: 2_999 }]);
  expect(asked).toEqual([0, 1_000, 2_000]);
});

test("a list whose platform fails at a later page goes on there, and one that fails at once is refused", function* () {
  const asked: Array<number> = [];
  const down = new PlatformUnavailable({ operation: "ChatRoles.membersPage" });
  let failures = 2;
  const lists = yield* listsOn(
    platformOf(2_000, asked, (position) => (position > 0 && failures-- > 0 ? down : Effect.void)),
  );
  const waiting = yield* Effect.forkChild(lists.find(guildId));
  yield* TestClock.adjust("4 seconds");
  expect((yield* Fiber.join(waiting)).members).toHaveLength(1_999);
  expect(asked).toEqual([0, 1_000, 1_000, 1_000]);

  const refusing = yield* listsOn(platformOf(2_000, asked, () => down));
  expect(yield* Effect.flip(refusing.find(guildId))).toBe(down);
});

test("a guild with more members than a list may have costs no page of members", function* () {
  const asked: Array<number> = [];
  const lists = yield* listsOn(platformOf(mostListed + 1, asked));
  const refused = (yield* Effect.flip(lists.find(guildId))) as Conflict;
  expect([refused.reason, asked]).toEqual(["too_many_members", []]);
});

test("the lists of a node have at most 200,000 members together, and the oldest goes first", function* () {
  const asked: Array<number> = [];
  const lists = yield* listsOn(platformOf(80_000, asked));
  for (const number of [1, 2, 3]) yield* lists.find(guildIdOf(number));
  asked.length = 0;
  yield* Effect.forEach([2, 3], (number) => lists.find(guildIdOf(number)));
  expect(asked).toEqual([]);
  yield* lists.find(guildId);
  expect(asked).toHaveLength(80);
});

test("large lists make room for others before small ones do", function* () {
  const asked: Array<number> = [];
  const lists = yield* listsOn(platformOf((guild) => (guild === guildId ? 5_000 : 90_000), asked));
  for (const number of [1, 2, 3, 4]) yield* lists.find(guildIdOf(number));
  asked.length = 0;
  yield* lists.find(guildId);
  expect(asked).toEqual([]);
});

test("many lists of one account cost another account none of its own", function* () {
  const asked: Array<number> = [];
  const lists = yield* listsOn(platformOf((guild) => (guild === guildId ? 60_000 : 50_000), asked));
  const find = (account: string, number: number) =>
    Effect.provideService(lists.find(guildIdOf(number)), TurnAccount, account);
  yield* find("ada", 1);
  for (const number of [2, 3, 4]) yield* find("mallory", number);
  asked.length = 0;
  yield* find("ada", 1);
  expect(asked).toEqual([]);
});

const scope = { kind: "guild", guildId, pid: "pid" as Pid, account: "acme" } as const;

const linksOf = (count: number) =>
  Layer.mock(LinkStore)({
    countLinks: () => Effect.succeed(count),
    exportPage: (_, after, limit) => {
      const start = after === null ? 0 : Number(after) - 100_000;
      const length = Math.max(0, Math.min(limit, count - start));
      const links = Array.from({ length }, (__, index) => ({
        chatId: chatIdAt(start + index),
        gameId: "1" as GameId,
        linkVersion: 1,
        lastVerifiedAt: 0,
        linkedAt: 0,
        proof: null,
      }));
      return Effect.succeed(links);
    },
  });

/** Returns the order of a scope from a new node. Nodes share the cache that the test provides. */
const orderOn = (links: number, members: number, asked: Array<number>, of: DataScope = scope) =>
  Effect.flatMap(makeNameOrder, (orderOf) => orderOf(of)).pipe(
    Effect.provide(Layer.provideMerge(MemberLists.layer, [platformOf(members, asked), linksOf(links)])),
  );

test("all nodes continue the order that one has made, until it is five minutes old", function* () {
  yield* Effect.gen(function* () {
    const asked: Array<number> = [];
    // The order of no links is not kept.
    expect((yield* orderOn(0, 11, []))?.chatIds).toEqual([]);
    // Of 13 links, two users are no members, and one is a bot.
    const first = yield* orderOn(13, 11, asked);
    const names = [0, 10, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(first).toMatchObject({ chatIds: [...names, 1, 11, 12].map(chatIdAt), unnamed: 3 });
    expect(asked).toHaveLength(1);
    yield* TestClock.adjust(orderKeptFor - 1);
    expect(yield* orderOn(14, 20, asked)).toEqual(first);
    expect(asked).toHaveLength(1);
    yield* TestClock.adjust(1);
    expect((yield* orderOn(14, 20, asked))?.chatIds).toHaveLength(14);
    expect(asked).toHaveLength(2);
  }).pipe(Effect.provide(CacheMemory.layer));
});

test("a list with more links than are sorted asks the platform nothing, nor does a shared list", function* () {
  yield* Effect.gen(function* () {
    const asked: Array<number> = [];
    expect(yield* orderOn(mostSorted + 1, 10, asked)).toBeNull();
    const shared = { kind: "global", pid: "pid" as Pid, account: "acme" } as const;
    expect(yield* orderOn(1, 10, asked, shared)).toBeNull();
    expect(asked).toEqual([]);
  }).pipe(Effect.provide(CacheMemory.layer));
});

test("thousands of links are sorted by name in steps, between which others have their turns", function* () {
  yield* Effect.gen(function* () {
    let turns = 0;
    const turn = Effect.andThen(
      Effect.yieldNow,
      Effect.sync(() => turns++),
    );
    const other = yield* Effect.forkChild(Effect.forever(turn));
    const order = yield* orderOn(mostSorted, 11, []);
    yield* Fiber.interrupt(other);
    expect(order?.chatIds.slice(0, 3)).toEqual([0, 10, 2].map(chatIdAt));
    expect(order?.chatIds).toHaveLength(mostSorted);
    expect(turns).toBeGreaterThan(4);
  }).pipe(Effect.provide(CacheMemory.layer));
});

import {
  type ChatId,
  ChatPlatform,
  type GameId,
  GamePlatform,
  type GuildId,
  type PlatformUnavailable,
} from "@accountlink/core";
import { decodeFixture, PlatformFixture } from "@accountlink/core/fixture";
import type { GameItem } from "@accountlink/core/platforms";
import { PlatformMemory } from "@accountlink/memory";
import { describe, expect, it, test, testLive, testWith } from "@accountlink/test-servers/effect";
import { Context, Duration, Effect, Layer, Option, Schema, type Scope } from "effect";
import { FetchHttpClient } from "effect/http";
import { devChatPlatform } from "./chat_platform.ts";
import { devGamePlatform } from "./game_platform.ts";
import { botToken, type FaultBody, startServer } from "./test_server.ts";

const guildId = "70001" as GuildId;
const chatId = "10001" as ChatId;
const gameId = "1" as GameId;

const started = decodeFixture(
  JSON.stringify({
    platform: {
      guilds: [{ id: guildId, members: [{ chatId, manager: true }] }],
      chatUsers: [{ id: chatId }],
      gameUsers: [{ id: gameId }],
    },
  }),
).pipe(Effect.flatMap(({ platform }) => startServer(platform)));

const findMember = ChatPlatform.use((chat) => chat.findMember(guildId, chatId));
const findGuild = ChatPlatform.use((chat) => chat.findGuild(guildId));

/** Effects that call each required operation of `ChatPlatform` and `GamePlatform`. */
const questions: ReadonlyArray<Effect.Effect<unknown, PlatformUnavailable, ChatPlatform | GamePlatform>> = [
  findGuild,
  findMember,
  ChatPlatform.use((chat) => chat.findUser(chatId)),
  ChatPlatform.use((chat) => chat.joinedGuilds([guildId])),
  ChatPlatform.use((chat) => chat.isManager(guildId, chatId)),
  GamePlatform.use((game) => game.hasUser(gameId)),
  GamePlatform.use((game) => game.findProfile(gameId)),
];

const causeOf = <A, R>(question: Effect.Effect<A, PlatformUnavailable, R>) =>
  Effect.map(Effect.flip(question), ({ cause }) => cause);

const asked = ({ traffic }: Effect.Success<typeof started>) =>
  Effect.map(traffic, ({ routes }) => Object.values(routes).reduce((sum, count) => sum + count, 0));

const idsOf = <Id extends string>(entries: ReadonlyArray<{ readonly id: Id }>) => entries.map(({ id }) => id);

/** If a fixture repeats an ID, its last entry counts. */
const lastOf = <A extends { readonly id: string }>(entries: ReadonlyArray<A>, id: string) =>
  Option.fromNullishOr(entries.findLast((entry) => entry.id === id));

const platforms: Readonly<
  Record<
    string,
    (
      fixture: PlatformFixture,
    ) => Effect.Effect<Context.Context<ChatPlatform | GamePlatform>, never, Scope.Scope>
  >
> = {
  memory: (fixture) => Layer.build(PlatformMemory.layer(fixture)),
  dev: (fixture) =>
    Effect.orDie(Effect.flatMap(startServer(fixture), ({ adapters }) => Layer.build(adapters()))),
};

describe.each(Object.entries(platforms))("answers of the platforms %s", (_, open) => {
  const stranger = "99999999";

  it.effect.prop(
    "the dev platforms answer with the data of the fixture",
    [PlatformFixture],
    ([random]) =>
      Effect.gen(function* () {
        // JSON has no -0.
        const fixture: PlatformFixture = JSON.parse(JSON.stringify(random));
        const { guilds, chatUsers, gameUsers } = fixture;
        const ports = yield* open(fixture);
        const chat = Context.get(ports, ChatPlatform);
        const game = Context.get(ports, GamePlatform);

        for (const id of [...idsOf(guilds), stranger as GuildId]) {
          const guild = Option.filter(lastOf(guilds, id), ({ bot }) => bot);
          expect(yield* chat.findGuild(id)).toEqual(Option.map(guild, ({ name }) => ({ id, name })));

          const members = Option.isSome(guild) ? guild.value.members : [];
          const mentioned = guilds.filter((entry) => entry.id === id).flatMap((entry) => entry.members);
          for (const user of [...mentioned.map((entry) => entry.chatId), stranger as ChatId]) {
            const member = members.findLast((entry) => entry.chatId === user);
            const { nickname, joined, roles } = member ?? {};
            const expected = member === undefined ? Option.none() : Option.some({ nickname, joined, roles });
            expect(yield* chat.findMember(id, user)).toEqual(expected);
            expect(yield* chat.isManager(id, user)).toBe(member?.manager === true);
          }
        }
        const joined = idsOf(guilds).filter((id) => Option.exists(lastOf(guilds, id), ({ bot }) => bot));
        expect(yield* chat.joinedGuilds([...idsOf(guilds), stranger as GuildId])).toEqual(new Set(joined));
        for (const id of [...idsOf(chatUsers), stranger as ChatId]) {
          const user = Option.map(lastOf(chatUsers, id), ({ connections: _told, ...rest }) => rest);
          expect(yield* chat.findUser(id)).toEqual(user);
        }
        for (const id of [...idsOf(gameUsers), stranger as GameId]) {
          expect(yield* game.hasUser(id)).toBe(Option.isSome(lastOf(gameUsers, id)));
          expect(yield* game.findProfile(id)).toEqual(lastOf(gameUsers, id));
        }
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 30 } },
  );

  test("findGroup returns a group with its ranks, and none for an unknown group", function* () {
    const makers = {
      id: "9",
      name: "Makers",
      ranks: [
        { rank: 1, name: "Fan" },
        { rank: 9, name: "Chief" },
      ],
    };
    const role = { id: 1, name: "Fan", rank: 1 };
    const groups = [
      { id: 9, name: "Makers", role },
      { id: 7, name: "Fans", role },
    ];
    const fixture = Schema.decodeUnknownSync(PlatformFixture)({
      gameUsers: [{ id: gameId, groups }],
      gameGroups: [{ ...makers, ranks: makers.ranks.toReversed() }],
    });
    const game = Context.get(yield* open(fixture), GamePlatform);
    expect(yield* game.findGroup?.("9") ?? Effect.succeedNone).toEqual(
      Option.some({ ...makers, memberCount: 1 }),
    );
    const fans = { id: "7", name: "Fans", memberCount: 1, ranks: [{ rank: 1, name: "Fan" }] };
    expect(yield* game.findGroup?.("7") ?? Effect.succeedNone).toEqual(Option.some(fans));
    expect(yield* game.findGroup?.("8") ?? Effect.succeedNone).toEqual(Option.none());
  });

  test("groupMembers returns all members of a group with their roles, 100 on a page", function* () {
    const role = { id: 1, name: "Fan", rank: 1 };
    const gameUsers = Array.from({ length: 250 }, (__, i) => ({
      id: String(i + 1),
      groups: [{ id: i < 201 ? 9 : 8, role }],
    }));
    const game = Context.get(
      yield* open(Schema.decodeUnknownSync(PlatformFixture)({ gameUsers })),
      GamePlatform,
    );
    const page = (cursor: string | null) =>
      Effect.map(game.groupMembers?.("9", cursor) ?? Effect.die("no members"), Option.getOrThrow);
    const first = yield* page(null);
    const second = yield* page(first.next);
    const third = yield* page(second.next);
    expect([first, second, third].map(({ members }) => members.length)).toEqual([100, 100, 1]);
    expect(third).toEqual({ members: [{ gameId: "201", role }], next: null });
  });

  test("hasItem tells whether a user has an item", function* () {
    const gameUsers = [{ id: gameId, items: [{ item: "badge", itemId: "5" }] }];
    const fixture = Schema.decodeUnknownSync(PlatformFixture)({ gameUsers });
    const game = Context.get(yield* open(fixture), GamePlatform);
    const has = (item: GameItem["item"], itemId: string, user = gameId) =>
      game.hasItem?.(user, { item, itemId }) ?? Effect.die("no items");
    expect(yield* has("badge", "5")).toBe("owned");
    expect(yield* has("asset", "5")).toBe("not_owned");
    expect(yield* has("badge", "5", stranger as GameId)).toBe("not_owned");
  });

  test("findItem returns the name of an item that a user has", function* () {
    const gameUsers = [{ id: gameId, items: [{ item: "badge", itemId: "5", name: "Welcome" }] }];
    const fixture = Schema.decodeUnknownSync(PlatformFixture)({ gameUsers });
    const game = Context.get(yield* open(fixture), GamePlatform);
    const find = (item: GameItem["item"]) => game.findItem?.({ item, itemId: "5" }) ?? Effect.die("no items");
    expect(yield* find("badge")).toEqual(Option.some({ name: "Welcome" }));
    expect(yield* find("asset")).toEqual(Option.none());
  });

  test("searchMembers returns members whose name begins with a text, up to a limit", function* () {
    const fixture = Schema.decodeUnknownSync(PlatformFixture)({
      guilds: [
        {
          id: guildId,
          members: [{ chatId: "100001" }, { chatId: "100002", nickname: "Grandma" }, { chatId: "100003" }],
        },
      ],
      chatUsers: [
        { id: "100001", username: "grace&co" },
        { id: "100002", username: "ada" },
        { id: "100003", username: "bob", displayName: "Gregor" },
      ],
    });
    const chat = Context.get(yield* open(fixture), ChatPlatform);
    const search = (beginning: string, limit: number) =>
      chat.searchMembers?.(guildId, beginning, limit) ?? Effect.die("There is no search");
    expect(yield* search("GRA", 10)).toEqual(["100001", "100002"]);
    expect(yield* search("gr", 2)).toEqual(["100001", "100002"]);
    expect(yield* search("grace&", 10)).toEqual(["100001"]);
    expect(yield* search("race", 10)).toEqual([]);
  });
});

testWith(FetchHttpClient.layer)("a response of a server that is no dev platform is a failure", function* () {
  const { url } = yield* started;
  const elsewhere = { baseUrl: `${url}/elsewhere`, botToken };
  const adapters = Layer.merge(devChatPlatform(elsewhere), devGamePlatform(elsewhere));
  for (const question of questions) {
    const cause = yield* causeOf(question).pipe(Effect.provide(adapters));
    expect(cause).toMatchObject({ reason: "status", status: 404 });
  }
});

const hasty = { backoff: Duration.millis(1), failuresToOpen: 100 };

testLive.each<[fault: FaultBody, sent: number, cause: unknown]>([
  [{ mode: "down" }, 3, { reason: "status", status: 503 }],
  [{ mode: "down", status: 500 }, 1, { reason: "status", status: 500 }],
  [{ mode: "cut" }, 3, { reason: "connection" }],
  [{ mode: "limited", retryAfter: 60 }, 1, { reason: "status", status: 429 }],
  [{ mode: "limited", retryAfter: 0 }, 3, { reason: "status", status: 429 }],
  [{ mode: "garbage" }, 1, { reason: "unreadable" }],
  [{ mode: "garbage", body: "" }, 1, { reason: "unreadable" }],
  [{ mode: "garbage", body: "{}" }, 1, { reason: "unreadable" }],
  [{ mode: "garbage", body: "[true]" }, 1, { reason: "unreadable" }],
  [{ mode: "garbage", body: '{"id":"2","chatId":"2"}' }, 1, { reason: "unreadable" }],
  [{ mode: "slow", delayMs: 60_000 }, 1, { reason: "timeout" }],
])("with the fault %o, a request is sent %i times and then fails", function* ([fault, sent, cause]) {
  const server = yield* started;
  const impatient = fault.mode === "slow" ? { retries: 0, attemptTimeout: Duration.millis(500) } : {};
  yield* server.setFault(fault);
  yield* Effect.gen(function* () {
    for (const question of questions) {
      yield* server.send("DELETE", "/requests");
      expect(yield* causeOf(question)).toMatchObject(cause as object);
      expect(yield* asked(server)).toBe(sent);
    }
  }).pipe(Effect.provide(server.adapters({ ...hasty, ...impatient })));
});

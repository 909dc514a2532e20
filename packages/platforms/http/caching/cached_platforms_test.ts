import { type ChatId, ChatPlatform, type GameId, GamePlatform, type GuildId } from "@accountlink/core";
import { CacheMemory } from "@accountlink/memory";
import { describe, expect, test } from "@accountlink/test-servers/effect";
import { Duration, Effect, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { cachedChatPlatform, cachedGamePlatform } from "./cached_platforms.ts";

const guildId = "700001" as GuildId;
const chatId = "100001" as ChatId;
const gameId = "1" as GameId;

const guild = { id: guildId, name: "Engine Room" };
const member = { nickname: null, joined: "2024-01-01T00:00:00Z", roles: [{ id: "1", name: "Member" }] };
const user = { id: chatId, username: "ada", displayName: null, avatar: null, banner: null, created: null };
const profile = {
  id: gameId,
  username: "ada_g",
  displayName: null,
  description: null,
  created: null,
  isBanned: false,
  hasVerifiedBadge: null,
  avatar: { headshot: null, fullBody: "https://images.test/1" },
  badges: [{ id: 1, name: "First", description: null, imageUrl: null }],
  groups: [],
};

/** Platforms that have every resource or none, and count their requests. */
const platforms = (isThere: boolean, count: () => void) => {
  const answer = <A>(whenThere: A, whenNot: A) => Effect.sync(() => (count(), isThere ? whenThere : whenNot));
  const found = <A>(value: A) => answer(Option.some(value), Option.none<A>());
  return Layer.merge(
    Layer.succeed(
      ChatPlatform,
      ChatPlatform.of({
        findGuild: () => found(guild),
        findMember: () => found(member),
        findUser: () => found(user),
        joinedGuilds: (ids) => answer(new Set(ids), new Set()),
        isManager: () => answer(true, false),
      }),
    ),
    Layer.succeed(
      GamePlatform,
      GamePlatform.of({ hasUser: () => answer(true, false), findProfile: () => found(profile) }),
    ),
  );
};

const cached = Layer.merge(cachedChatPlatform(), cachedGamePlatform());

const none = Option.none();

type Asked = Effect.Effect<unknown, unknown, ChatPlatform | GamePlatform>;

const questions: ReadonlyArray<
  [what: string, ask: Asked, there: unknown, notThere: unknown, seconds: number]
> = [
  ["a guild", ChatPlatform.use((chat) => chat.findGuild(guildId)), Option.some(guild), none, 10],
  ["a member", ChatPlatform.use((chat) => chat.findMember(guildId, chatId)), Option.some(member), none, 5],
  ["a chat user", ChatPlatform.use((chat) => chat.findUser(chatId)), Option.some(user), none, 30],
  ["a game user", GamePlatform.use((game) => game.hasUser(gameId)), true, false, 30],
  ["a profile", GamePlatform.use((game) => game.findProfile(gameId)), Option.some(profile), none, 30],
];

describe.each(questions)("the existence of %s", (_, ask, there, notThere, seconds) => {
  const check = (isThere: boolean, expected: unknown, freshFor: Duration.Duration) => {
    let asked = 0;
    return Effect.gen(function* () {
      expect([yield* ask, yield* ask]).toEqual([expected, expected]);
      yield* TestClock.adjust(Duration.subtract(freshFor, Duration.millis(1)));
      expect(yield* ask).toEqual(expected);
      expect(asked).toBe(1);
      yield* TestClock.adjust(1);
      expect(yield* ask).toEqual(expected);
      expect(asked).toBe(2);
    }).pipe(
      Effect.provide(cached.pipe(Layer.provide([platforms(isThere, () => asked++), CacheMemory.layer]))),
    );
  };

  test(`an answer is cached for ${seconds} s`, () => check(true, there, Duration.seconds(seconds)));

  test("a negative answer is cached for 1 s", () => check(false, notThere, Duration.seconds(1)));
});

const features = { names: true, groups: true, descriptions: true, ages: true, items: [] };

const onMocks = (parts: {
  chat?: Partial<ChatPlatform["Service"]>;
  game?: Partial<GamePlatform["Service"]>;
}) =>
  Effect.provide(
    cached.pipe(
      Layer.provide([
        Layer.mock(ChatPlatform)(parts.chat ?? {}),
        Layer.mock(GamePlatform)({ features: Effect.succeed(features), ...parts.game }),
        CacheMemory.layer,
      ]),
    ),
  );

test("a profile whose groups the platform could not tell is cached for 1 s", () => {
  const answers = [{ ...profile, groups: null }, profile];
  const findProfile = () => Effect.sync(() => Option.fromUndefinedOr(answers.shift()));
  return Effect.gen(function* () {
    const groups = Effect.map(
      GamePlatform.use((game) => game.findProfile(gameId)),
      (found) => Option.getOrThrow(found).groups,
    );
    expect([yield* groups, yield* groups]).toEqual([null, null]);
    yield* TestClock.adjust("1 second");
    expect(yield* groups).toEqual([]);
  }).pipe(onMocks({ game: { findProfile } }));
});

test("parts of a profile are cached apart from the whole profile", () => {
  const asked: Array<unknown> = [];
  const findProfile: GamePlatform["Service"]["findProfile"] = (_, parts, groupIds) =>
    Effect.sync(() => (asked.push([parts, groupIds]), Option.some({ ...profile, badges: null })));
  return Effect.gen(function* () {
    const game = yield* GamePlatform;
    yield* game.findProfile(gameId, ["groups"]);
    yield* TestClock.adjust("29 seconds");
    yield* game.findProfile(gameId, ["groups"]);
    yield* game.findProfile(gameId);
    yield* game.findProfile(gameId, ["groups"], ["7", "9"]);
    yield* TestClock.adjust("29 seconds");
    yield* game.findProfile(gameId, ["groups"], ["7", "9"]);
    expect(asked).toEqual([
      [["groups"], []],
      [["avatar", "badges", "groups"], []],
      [["groups"], ["7", "9"]],
    ]);
  }).pipe(onMocks({ game: { findProfile } }));
});

test("answers are cached separately for each guild and user", () => {
  const asked: Array<string> = [];
  const findMember: ChatPlatform["Service"]["findMember"] = (...ids) =>
    Effect.sync(() => (asked.push(ids.join()), Option.none()));
  return Effect.gen(function* () {
    const chat = yield* ChatPlatform;
    for (const place of ["70001", "70002", "70001"]) {
      for (const id of ["10001", "10002"]) yield* chat.findMember(place as GuildId, id as ChatId);
    }
    expect(asked).toEqual(["70001,10001", "70001,10002", "70002,10001", "70002,10002"]);
  }).pipe(onMocks({ chat: { findMember } }));
});

import type { ChatId, ChatPlatform, GuildId, PlatformUnavailable } from "@accountlink/core";
import type { HttpAnswering } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Logger, Option } from "effect";
import {
  ada,
  bob,
  botToken,
  chatPlatformAt,
  eve,
  foreignGuildId,
  guildId,
  limited,
  missingAccess,
  moderator,
  startDiscord,
  unknownGuild,
} from "./test_discord.ts";

const setUp = Effect.fnUntraced(function* (instead?: Parameters<typeof startDiscord>[0], token?: string) {
  const discord = yield* startDiscord(instead);
  const resilience = { failuresToOpen: 100 };
  const chat = yield* chatPlatformAt(discord.apiUrl, {
    ...(token === undefined ? {} : { token }),
    resilience,
  });
  return { ...discord, chat };
});

type Chat = (typeof ChatPlatform)["Service"];

/** One call of each operation that every `ChatPlatform` must have. */
const questions: ReadonlyArray<(chat: Chat) => Effect.Effect<unknown, PlatformUnavailable>> = [
  (chat) => chat.findGuild(guildId),
  (chat) => chat.findMember(guildId, ada.id),
  (chat) => chat.findUser(ada.id),
  (chat) => chat.joinedGuilds([guildId]),
  (chat) => chat.isManager(guildId, ada.id),
];

const causeOf = <A>(question: Effect.Effect<A, PlatformUnavailable>) =>
  Effect.map(Effect.flip(question), ({ cause }) => cause);

test("findGuild returns a null name if Discord's response has no name", function* () {
  const { chat, heard } = yield* setUp((path) =>
    path === `/guilds/${guildId}` ? { body: { id: guildId } } : undefined,
  );
  expect(yield* chat.findGuild(guildId)).toEqual(Option.some({ id: guildId, name: null }));
  expect(heard[0]).toMatchObject({
    method: "GET",
    headers: { authorization: `Bot ${botToken}`, "user-agent": "DiscordBot (https://link.example, 1)" },
  });
});

test("findMember returns a member with all role IDs, and with the names of the roles that Discord lists", function* () {
  const { chat } = yield* setUp();
  expect(yield* chat.findMember(guildId, ada.id)).toEqual(
    Option.some({
      nickname: "Countess",
      joined: "2015-04-26T06:26:56.936Z",
      roles: [
        { id: "41771983423143936", name: "Moderator" },
        { id: "41771983423143937", name: null },
      ],
    }),
  );
  expect(yield* chat.findMember(guildId, bob.id)).toEqual(
    Option.some({ nickname: null, joined: null, roles: [] }),
  );
});

test("findMember returns a member whose time of joining cannot be read", function* () {
  const body = { user: bob, roles: [], joined_at: 1_430_029_616 };
  const { chat } = yield* setUp((path) => (path.endsWith(`/members/${bob.id}`) ? { body } : undefined));
  expect(yield* chat.findMember(guildId, bob.id)).toMatchObject({ value: { joined: null } });
});

test("findUser returns a user, with the URLs of the images and the account's creation time", function* () {
  const { chat } = yield* setUp();
  expect(yield* chat.findUser(ada.id)).toEqual(
    Option.some({
      id: ada.id,
      username: "ada",
      displayName: "Ada Lovelace",
      avatar: `https://cdn.discordapp.com/avatars/${ada.id}/a_1269e74af4df7417b13759eae50c83dc.gif?size=256`,
      banner: `https://cdn.discordapp.com/banners/${ada.id}/06c16474723fe537c283b8efa61a30c8.png?size=512`,
      created: "2016-04-30T11:18:25.796Z",
    }),
  );
  expect(yield* chat.findUser(bob.id)).toEqual(
    Option.some({
      id: bob.id,
      username: "bob",
      displayName: "bob",
      avatar: null,
      banner: null,
      created: "2015-08-15T19:49:04.665Z",
    }),
  );
});

test.each(["00175928847299117063", "9223372036854775808", "1".repeat(32)])(
  "answers need no request for %s, which cannot be a Discord ID",
  function* (id) {
    const { chat, takePaths } = yield* setUp();
    expect(yield* chat.findGuild(id as GuildId)).toEqual(Option.none());
    expect(yield* chat.findMember(guildId, id as ChatId)).toEqual(Option.none());
    expect(yield* chat.findMember(id as GuildId, ada.id)).toEqual(Option.none());
    expect(yield* chat.findUser(id as ChatId)).toEqual(Option.none());
    expect(takePaths()).toEqual([]);
  },
);

test("roles of a guild are requested once for many members", function* () {
  const { chat, takePaths } = yield* setUp();
  const member = (id: string) => `/guilds/${guildId}/members/${id}`;
  yield* chat.findMember(guildId, ada.id);
  yield* chat.findMember(guildId, ada.id);
  yield* chat.findMember(guildId, bob.id);
  expect(takePaths()).toEqual([member(ada.id), `/guilds/${guildId}/roles`, member(ada.id), member(bob.id)]);
});

test.each<[answer: HttpAnswering, times: number]>([
  [unknownGuild, 1],
  [{ status: 500 }, 2],
])("after the response %o, the roles of two members are requested %i times", function* ([answer, times]) {
  const { chat, takePaths } = yield* setUp((path) => (path.endsWith("/roles") ? answer : undefined));
  for (let asked = 0; asked < 2; asked++) yield* chat.findMember(guildId, ada.id);
  expect(takePaths().filter((path) => path.endsWith("/roles"))).toHaveLength(times);
});

test.each<[what: string, token: string, answer: HttpAnswering | undefined, status: number]>([
  ["a rate limit of all routes", botToken, limited(64.57, "global"), 429],
  [
    "a rate limit of the address",
    botToken,
    { status: 429, headers: { "retry-after": "600" }, body: "error code: 1015" },
    429,
  ],
  ["a refused token, which is logged once,", "revoked", undefined, 401],
])("%s delays every request", function* ([, token, answer, status]) {
  const logged: Array<unknown> = [];
  const keep = Logger.make(({ logLevel, message }) => logged.push([logLevel, message]));
  yield* Effect.gen(function* () {
    const { chat, takePaths } = yield* setUp(() => answer, token);
    for (const question of questions) {
      expect(yield* causeOf(question(chat))).toMatchObject({ reason: "status", status });
    }
    expect(takePaths()).toEqual(["/users/@me/guilds"]);
  }).pipe(Effect.provide(Logger.layer([keep])));
  const refusal = ["Error", ["Cannot ask Discord: it refuses the bot token"]];
  expect(logged).toEqual(status === 401 ? [refusal] : []);
});

const users = [ada.id, bob.id, eve.id, "not a snowflake" as ChatId];
// A member with many roles takes more than a kilobyte.
const roles = Array.from({ length: 50 }, (_, i) => String(BigInt(guildId) + BigInt(i)));
const page = (ids: ReadonlyArray<string>) => ({
  body: ids.map((id) => ({ user: { id, username: "someone" }, roles })),
});
const full = Array.from({ length: 1_000 }, (_, i) => String(BigInt(bob.id) + BigInt(i)));
const [adaIn, bobIn, eveNotIn] = [[ada.id, true] as const, [bob.id, true] as const, [eve.id, false] as const];

test.each<[what: string, answer: HttpAnswering, known: ReadonlyArray<readonly [ChatId, boolean]>]>([
  ["tells which of several users are members of the guild", page([bob.id, ada.id]), [adaIn, bobIn, eveNotIn]],
  ["does not tell of users with higher IDs than a full page", page(full), [bobIn, eveNotIn]],
  ["does not tell of users with higher IDs than a short page", page([bob.id]), [bobIn, eveNotIn]],
  ["tells of all if the page is empty", page([]), [eve, bob, ada].map(({ id }) => [id, false] as const)],
  ["tells nothing if the bot may not list members", missingAccess, []],
])("findMembers requests one page of members, and %s", function* ([, answer, known]) {
  const path = `/guilds/${guildId}/members`;
  const { chat, heard } = yield* setUp((asked) => (asked === path ? answer : undefined));
  const found = chat.findMembers?.(guildId, users) ?? Effect.die("There is no list");
  expect(yield* found).toEqual(new Map(known));
  expect(heard.map(({ query }) => [query.get("limit"), query.get("after")])).toEqual([
    ["1000", String(BigInt(eve.id) - 1n)],
  ]);
});

test("members are found by the beginning of their names", function* () {
  const found = { body: [{ user: { id: ada.id, username: "ada" } }] };
  const path = `/guilds/${guildId}/members/search`;
  const { chat, heard } = yield* setUp((asked) => (asked === path ? found : undefined));
  const search = chat.searchMembers?.(guildId, "a&d", 20) ?? Effect.die("There is no search");
  expect(yield* search).toEqual([ada.id]);
  expect(yield* chat.searchMembers?.(guildId, " ", 20) ?? search).toEqual([]);
  expect(heard.map(({ query }) => [query.get("query"), query.get("limit")])).toEqual([["a&d", "20"]]);
});

const idsFrom = (first: bigint, count: number) =>
  Array.from({ length: count }, (_, i) => String(first + BigInt(i)) as GuildId);

test("joinedGuilds sends one request, which starts at the lowest of the given guild IDs", function* () {
  const { chat, heard } = yield* setUp();
  const asked = [guildId, foreignGuildId, "not a snowflake" as GuildId];
  expect(yield* chat.joinedGuilds(asked)).toEqual(new Set([guildId]));
  expect(heard.map(({ path, query }) => [path, query.get("limit"), query.get("after")])).toEqual([
    ["/api/v10/users/@me/guilds", "200", String(BigInt(foreignGuildId) - 1n)],
  ]);
  expect(yield* chat.joinedGuilds([])).toEqual(new Set());
  expect(heard).toHaveLength(1);
});

/** Answers for a bot that is in these guilds. */
const botIn =
  (joined: ReadonlyArray<GuildId>): Parameters<typeof startDiscord>[0] =>
  (path, { query }) => {
    const guilds = joined.map((id) => ({ id }));
    if (path !== "/users/@me/guilds") return { body: guilds.find(({ id }) => path === `/guilds/${id}`) };
    const after = BigInt(query.get("after") ?? 0);
    return { body: guilds.filter(({ id }) => BigInt(id) > after).slice(0, 200) };
  };

const strangers = idsFrom(BigInt(guildId) + 1n, 200);

test.each<[order: string, ids: ReadonlyArray<GuildId>]>([
  ["ascending", strangers],
  ["descending", strangers.toReversed()],
])(
  "200 guilds without the bot, with %s IDs, cost one request, and one for the end of the list",
  function* ([, ids]) {
    const { chat, takePaths } = yield* setUp();
    const lookups = ids.map((id) => Effect.map(chat.findGuild(id), Option.isSome));
    expect(new Set(yield* Effect.all(lookups, { concurrency: 8 }))).toEqual(new Set([false]));
    expect(takePaths()).toEqual(["/users/@me/guilds", "/users/@me/guilds"]);
  },
);

test("a short page of the bot's guilds is not the last one", function* () {
  const joined = idsFrom(BigInt(guildId), 450);
  const shortPages: Parameters<typeof startDiscord>[0] = (path, request) => {
    const answer = botIn(joined)?.(path, request);
    if (path !== "/users/@me/guilds" || typeof answer !== "object") return answer;
    return { body: (answer.body as ReadonlyArray<object>).slice(0, 199) };
  };
  const { chat } = yield* setUp(shortPages);
  for (const id of [joined[449], joined[199], joined[0]] as ReadonlyArray<GuildId>) {
    expect(yield* chat.findGuild(id)).toMatchObject(Option.some({ id }));
  }
  const absent = String(BigInt(guildId) + 450n) as GuildId;
  expect(yield* chat.joinedGuilds([...joined, absent])).toEqual(new Set(joined));
  expect(yield* chat.findGuild(absent)).toEqual(Option.none());
});

test("guilds without the bot cost at most two requests per page of the bot's guilds", function* () {
  // Every guild with an even ID is one of the bot's 1,000 guilds, on 6 pages.
  const ids = idsFrom(BigInt(guildId), 2_000);
  const { chat, takePaths } = yield* setUp(botIn(ids.filter((_, index) => index % 2 === 0)));
  const strange = ids.filter((_, index) => index % 2 === 1).toReversed();
  for (const id of strange) expect(yield* chat.findGuild(id)).toEqual(Option.none());
  expect(takePaths().length).toBeLessThanOrEqual(12);
});

test("findGuild believes for 5 minutes that the bot is absent, unless joinedGuilds hears of it", function* () {
  const joined: Array<GuildId> = [];
  const { chat, heard } = yield* setUp(botIn(joined));
  const isThere = Effect.map(chat.findGuild(guildId), Option.isSome);
  expect(yield* isThere).toBe(false);
  joined.push(guildId, foreignGuildId);
  expect(yield* isThere).toBe(false);
  expect(heard).toHaveLength(1);
  yield* chat.joinedGuilds([guildId]);
  expect(yield* isThere).toBe(true);
});

test.each([{ status: 204 }, { body: "" }])("%j does not say that the bot is in no guild", function* (empty) {
  const { chat } = yield* setUp(() => empty);
  expect(yield* Effect.flip(chat.findGuild(guildId))).toMatchObject({ _tag: "PlatformUnavailable" });
});

test("a guild that the bot has left costs one refused request", function* () {
  const { chat, takePaths } = yield* setUp((path) =>
    path === `/guilds/${guildId}` ? unknownGuild : undefined,
  );
  for (let asked = 0; asked < 3; asked++) expect(yield* chat.findGuild(guildId)).toEqual(Option.none());
  expect(takePaths()).toEqual(["/users/@me/guilds", `/guilds/${guildId}`]);
});

test("the next page of the bot's guilds is requested after a full page", function* () {
  const joined = idsFrom(BigInt(foreignGuildId), 300);
  const { chat, heard } = yield* setUp(botIn(joined));
  const asked = [joined[250], joined[0], guildId, joined[199]].filter((id) => id !== undefined);
  expect(yield* chat.joinedGuilds(asked)).toEqual(new Set([joined[0], joined[199], joined[250]]));
  expect(heard.map(({ query }) => query.get("after"))).toEqual([
    String(BigInt(joined[0] ?? 0) - 1n),
    String(BigInt(joined[250] ?? 0) - 1n),
    // The second page is short, which does not make it the last one.
    String(BigInt(guildId) - 1n),
  ]);
});

const governed = (owner: string, everyone: string) => (path: string) =>
  path === `/guilds/${guildId}`
    ? {
        body: {
          id: guildId,
          owner_id: owner,
          roles: [{ id: guildId, name: "@everyone", position: 0, permissions: everyone }, moderator],
        },
      }
    : undefined;

test.each<[what: string, owner: string, everyone: string, user: ChatId, isManager: boolean]>([
  ["its owner", bob.id, "0", bob.id, true],
  ["a member whose role may manage the guild", eve.id, "0", ada.id, true],
  ["no member without such a role", eve.id, "1071698660929", bob.id, false],
  ["everyone, if the role of everyone may manage the guild", eve.id, "8", bob.id, true],
  ["nobody who left, not even the owner", eve.id, "8", eve.id, false],
])("%s may manage a guild", function* ([, owner, everyone, user, isManager]) {
  const { chat } = yield* setUp(governed(owner, everyone));
  expect(yield* chat.isManager(guildId, user)).toBe(isManager);
});

test("isManager asks the platform at each call, but never about a guild without the bot", function* () {
  const { chat, takePaths } = yield* setUp();
  expect([yield* chat.isManager(guildId, ada.id), yield* chat.isManager(guildId, ada.id)]).toEqual([
    true,
    true,
  ]);
  expect(takePaths().filter((path) => path.startsWith("/guilds/"))).toHaveLength(4);
  expect(yield* chat.isManager(foreignGuildId, ada.id)).toBe(false);
  expect(yield* chat.isManager("not a snowflake" as GuildId, ada.id)).toBe(false);
  expect(takePaths()).toEqual([]);
});

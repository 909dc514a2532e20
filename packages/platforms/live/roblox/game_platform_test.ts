import { GameId, GamePlatform, PlatformUnavailable } from "@accountlink/core";
import type { GameItem } from "@accountlink/core/platforms";
import type { HttpAnswering } from "@accountlink/test-servers";
import { describe, expect, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Duration, Effect, Layer, Option } from "effect";
import { FetchHttpClient } from "effect/http";
import type { Resilience } from "../../http/mod.ts";
import { liveGamePlatform } from "./game_platform.ts";
import { ada, adaId, adaProfile, refused, startRoblox, thumbnail } from "./test_roblox.ts";

const setUp = Effect.fnUntraced(function* (
  instead?: Parameters<typeof startRoblox>[0],
  resilience: Partial<Resilience> = {},
) {
  const roblox = yield* startRoblox(instead);
  const layer = liveGamePlatform({
    apiUrl: roblox.apiUrl,
    resilience: { backoff: Duration.millis(1), failuresToOpen: 100, ...resilience },
  });
  const game = Context.get(yield* Layer.build(Layer.provide(layer, FetchHttpClient.layer)), GamePlatform);
  return { ...roblox, game };
});

test("a user is found if the ID exists, also a banned one", function* () {
  const { game } = yield* setUp(({ path }) =>
    path.endsWith(`/users/${adaId}`) ? { body: { ...ada, isBanned: true } } : undefined,
  );
  expect(yield* game.hasUser(adaId)).toBe(true);
  expect(yield* game.hasUser("2" as GameId)).toBe(false);
  expect(yield* game.findProfile("2" as GameId)).toEqual(Option.none());
  expect(yield* game.findProfile(adaId)).toEqual(Option.some({ ...adaProfile, isBanned: true }));
});

test("a user is found although only the ID and the names of the answer can be read", function* () {
  const odd = { created: 1_584_597_295, isBanned: "no", hasVerifiedBadge: 1 };
  const { game } = yield* setUp(({ path }) =>
    path.endsWith(`/users/${adaId}`) ? { body: { ...ada, ...odd } } : undefined,
  );
  const unknown = { created: null, isBanned: null, hasVerifiedBadge: null };
  expect(yield* game.findProfile(adaId)).toEqual(Option.some({ ...adaProfile, ...unknown }));
  expect(yield* game.hasUser(adaId)).toBe(true);
});

test("a user whose creation cannot be read has no age, so that rules for an age hold", function* () {
  const { game } = yield* setUp(({ path }) =>
    path.endsWith(`/users/${adaId}`) ? { body: { ...ada, created: 1_584_597_295 } } : undefined,
  );
  for (const parts of [[], ["groups"]] as const)
    expect(yield* Effect.flip(game.findProfile(adaId, parts))).toMatchObject({ _tag: "PlatformUnavailable" });
});

test.each(["0", `0${adaId}`, "9007199254740992", "1".repeat(32)])(
  "a user is not requested for %s, which cannot be a Roblox ID",
  function* (id) {
    const { game, heard } = yield* setUp();
    expect(yield* game.hasUser(id as GameId)).toBe(false);
    expect(yield* game.findProfile(id as GameId)).toEqual(Option.none());
    expect(heard).toEqual([]);
  },
);

test.each<HttpAnswering>([{ body: { ...ada, id: 2 } }, { status: 404, body: { errors: [] } }])(
  "a lookup fails if Roblox answers %o, which is no answer about the user",
  function* (answer) {
    const { game } = yield* setUp(() => answer);
    for (const question of [game.hasUser(adaId), game.findProfile(adaId)])
      expect(yield* Effect.flip<unknown, unknown, never>(question)).toBeInstanceOf(PlatformUnavailable);
  },
);

test("a user is found by the whole present user name", function* () {
  const { game, heard } = yield* setUp();
  const find = (name: string) => game.findUserByName?.(name) ?? Effect.succeedNone;
  expect(yield* find("Ada_G")).toEqual(Option.some(adaId));
  expect(yield* find("ada")).toEqual(Option.none());
  expect(yield* find("Countess")).toEqual(Option.none());
  expect(JSON.parse(heard[0]?.body ?? "")).toEqual({ usernames: ["Ada_G"], excludeBannedUsers: false });
});

test("names of many users are read in one request", function* () {
  const { game, heard } = yield* setUp(({ path }) =>
    path === "/users/v1/users" ? { body: { data: [ada] } } : undefined,
  );
  const unknown = [GameId.make("999"), GameId.make("9".repeat(32))];
  expect(yield* game.findNames?.([adaId, ...unknown]) ?? Effect.succeed(null)).toEqual(
    new Map([[adaId, { username: "ada_g", displayName: "Ada" }]]),
  );
  expect(heard.map(({ body }) => JSON.parse(body ?? ""))).toEqual([
    { userIds: [ada.id, 999], excludeBannedUsers: false },
  ]);
});

test("the description of a user is read as Roblox tells it, and is empty for a user without one", function* () {
  const descriptions = ["one two", null];
  const { game } = yield* setUp(({ path }) =>
    path.startsWith("/users/") ? { body: { ...ada, description: descriptions.shift() } } : undefined,
  );
  const read = game.findDescription?.(adaId) ?? Effect.succeedNone;
  expect([yield* read, yield* read]).toEqual([Option.some("one two"), Option.some("")]);
  expect(game.descriptionPage?.(adaId)).toBe("https://www.roblox.com/my/account#!/info");
});

test("a group is found by its ID, with its ranks", function* () {
  const { game } = yield* setUp();
  const ranks = [
    { rank: 0, name: "Guest" },
    { rank: 254, name: "Admin" },
  ];
  const robloxGroup = { id: "7", name: "Roblox", memberCount: 3, ranks };
  expect(yield* game.findGroup?.("7") ?? Effect.succeedNone).toEqual(Option.some(robloxGroup));
  expect(yield* game.findGroup?.("8") ?? Effect.succeedNone).toEqual(Option.none());
});

test("the members of a group are read in pages of 100", function* () {
  const { game, heard } = yield* setUp(({ path, query }) =>
    path.endsWith("/users") && query.has("cursor") ? { body: { data: [], nextPageCursor: "" } } : undefined,
  );
  const page = (cursor: string | null) =>
    Effect.map(game.groupMembers?.("7", cursor) ?? Effect.die("no members"), Option.getOrThrow);
  const { members, next } = yield* page(null);
  expect(members).toEqual([{ gameId: adaId, role: { id: 30, name: "Admin", rank: 254 } }]);
  expect(yield* page(next)).toEqual({ members: [], next: null });
  expect(heard.map(({ query }) => Object.fromEntries(query))).toEqual([
    { limit: "100", sortOrder: "Asc" },
    { limit: "100", sortOrder: "Asc", cursor: "a+b=_1" },
  ]);
});

test("a member whom the older routes list twice has both roles", function* () {
  const admin = { id: 30, name: "Admin", rank: 254 };
  const fan = { id: 31, name: "Fan", rank: 1 };
  const { game } = yield* setUp(({ path }) => {
    if (path.endsWith("/groups/roles"))
      return { body: { data: [admin, fan].map((role) => ({ group: { id: 7 }, role })) } };
    return path.endsWith("/users")
      ? { body: { data: [fan, admin].map((role) => ({ user: { userId: Number(adaId) }, role })) } }
      : undefined;
  });
  const profile = Option.getOrThrow(yield* game.findProfile(adaId, ["groups"], ["7"]));
  expect(profile.groups?.map(({ role }) => role)).toEqual([admin, fan]);
  expect(yield* game.groupMembers?.("7", null) ?? Effect.succeedNone).toMatchObject({
    value: { members: [fan, admin].map((role) => ({ gameId: adaId, role })) },
  });
});

test("an item is owned, not owned, or in a private inventory", function* () {
  const { game } = yield* setUp();
  const has = (item: GameItem["item"], itemId: string) =>
    game.hasItem?.(adaId, { item, itemId }) ?? Effect.die("no items");
  expect(yield* has("gamepass", "55")).toBe("owned");
  expect(yield* has("badge", "56")).toBe("not_owned");
  expect(yield* has("asset", "57")).toBe("private");
  expect(yield* has("asset", "x")).toBe("no_item");
});

test("an item is found with its name", function* () {
  const { game } = yield* setUp();
  const find = (item: GameItem["item"], itemId: string) =>
    game.findItem?.({ item, itemId }) ?? Effect.die("no items");
  expect(yield* find("gamepass", "55")).toEqual(Option.some({ name: "VIP" }));
  expect(yield* find("badge", "56")).toEqual(Option.some({ name: "Welcome" }));
  expect(yield* find("asset", "57")).toEqual(Option.some({ name: "Hat" }));
  expect(yield* find("asset", "55")).toEqual(Option.none());
  expect(yield* find("asset", "x")).toEqual(Option.none());
});

test("a profile combines the responses of four services", function* () {
  const { game, heard } = yield* setUp();
  expect(yield* game.findProfile(adaId)).toEqual(Option.some(adaProfile));
  const image = { userIds: adaId, size: "420x420", format: "Png", isCircular: "false" };
  const asked = heard.map(({ path, query }) => [path, Object.fromEntries(query)]);
  expect(Object.fromEntries(asked)).toEqual({
    [`/users/v1/users/${adaId}`]: {},
    "/thumbnails/v1/users/avatar-headshot": image,
    "/thumbnails/v1/users/avatar": image,
    [`/groups/v2/users/${adaId}/groups/roles`]: {
      includeLocked: "false",
      includeNotificationPreferences: "false",
      discoveryType: "0",
    },
    [`/accountinformation/v1/users/${adaId}/roblox-badges`]: {},
  });
});

test("a profile asks only for the needed parts", function* () {
  const { game, heard } = yield* setUp();
  const rest = { avatar: { headshot: null, fullBody: null }, badges: null };
  expect(yield* game.findProfile(adaId, ["groups"])).toEqual(Option.some({ ...adaProfile, ...rest }));
  expect(heard).toHaveLength(2);
  expect(yield* game.findProfile(adaId, [])).toEqual(Option.some({ ...adaProfile, ...rest, groups: null }));
  expect(heard).toHaveLength(3);
});

test("a profile has null where Roblox omits a value", function* () {
  const { game } = yield* setUp(({ path }) => {
    if (path.startsWith("/users/")) return { body: { id: ada.id, name: "ada_g", description: null } };
    return path.startsWith("/groups/")
      ? { body: { data: [{ group: { id: 7 }, role: { id: 30 } }] } }
      : undefined;
  });
  const nothing = { name: null, memberCount: null, hasVerifiedBadge: null };
  expect(yield* game.findProfile(adaId)).toEqual(
    Option.some({
      ...adaProfile,
      displayName: null,
      description: null,
      created: null,
      isBanned: null,
      hasVerifiedBadge: null,
      groups: [{ id: 7, ...nothing, role: { id: 30, name: null, rank: null } }],
    }),
  );
});

test.each<[what: string, answer: HttpAnswering]>([
  ["pending", thumbnail("Pending", "")],
  ["blocked", thumbnail("Blocked", "https://tr.rbxcdn.com/blocked.png")],
  ["of somebody else", { body: { data: [{ targetId: 2, state: "Completed", imageUrl: "https://x.test" }] } }],
  ["left out", { body: { data: [] } }],
])("a profile has no image if the thumbnail is %s", function* ([, answer]) {
  const { game } = yield* setUp(({ path }) => (path.endsWith("/avatar-headshot") ? answer : undefined));
  const avatar = { ...adaProfile.avatar, headshot: null };
  expect(yield* game.findProfile(adaId)).toEqual(Option.some({ ...adaProfile, avatar }));
});

const parts = [
  ["/thumbnails/", { avatar: { headshot: null, fullBody: null } }],
  ["/groups/", { groups: null }],
  ["/accountinformation/", { badges: null }],
] as const;
const failures: ReadonlyArray<HttpAnswering> = [
  { body: "<!doctype html>" },
  refused(404, 0, "NotFound"),
  "silent",
];

describe.each(parts)("a profile without %s", (folder, missing) => {
  test.each(failures)("a profile has the other parts if that service answers %o", function* (answer) {
    const hasty = { retries: 0, ...(answer === "silent" ? { attemptTimeout: Duration.seconds(1) } : {}) };
    const { game } = yield* setUp(({ path }) => (path.startsWith(folder) ? answer : undefined), hasty);
    expect(yield* game.findProfile(adaId)).toEqual(Option.some({ ...adaProfile, ...missing }));
  });
});

test("a profile lacks only its images while the circuit of the thumbnails service is open", function* () {
  const { game, heard } = yield* setUp(
    ({ path }) => (path.startsWith("/thumbnails/") ? { status: 500 } : undefined),
    { failuresToOpen: 2 },
  );
  const expected = Option.some({ ...adaProfile, avatar: { headshot: null, fullBody: null } });
  expect(yield* game.findProfile(adaId)).toEqual(expected);
  heard.splice(0);
  expect(yield* game.findProfile(adaId)).toEqual(expected);
  expect(heard.filter(({ path }) => path.startsWith("/thumbnails/"))).toEqual([]);
});

test("groups are found while the circuit of users' groups is open", function* () {
  const { game, heard } = yield* setUp(
    ({ path }) => (path.startsWith("/groups/v2/users/") ? { status: 500 } : undefined),
    { failuresToOpen: 2 },
  );
  for (let asked = 0; asked < 3; asked++) {
    expect(yield* game.findProfile(adaId, ["groups"])).toMatchObject({ value: { groups: null } });
  }
  expect(heard.filter(({ path }) => path.startsWith("/groups/"))).toHaveLength(2);
  expect(yield* game.findGroup?.("7") ?? Effect.succeedNone).toMatchObject({ value: { id: "7" } });
  expect(yield* game.groupMembers?.("7", null) ?? Effect.succeedNone).toMatchObject({ _tag: "Some" });
});

test("a hidden list of members and a deleted user delay nothing", function* () {
  const { game, heard } = yield* setUp(
    ({ path }) => {
      if (path === "/groups/v1/groups/8/users") return refused(403, 35, "The members are hidden.");
      return path.startsWith("/inventory/v1/users/2/") ? refused(400, 1, "The user is deleted.") : undefined;
    },
    { failuresToOpen: 1 },
  );
  const pass: GameItem = { item: "gamepass", itemId: "55" };
  for (let asked = 0; asked < 20; asked++) {
    expect(yield* game.groupMembers?.("8", null) ?? Effect.die("no members")).toEqual(Option.none());
    expect(yield* game.hasItem?.("2" as GameId, pass) ?? Effect.die("no items")).toBe("not_owned");
  }
  expect(heard).toHaveLength(40);
  expect(yield* game.groupMembers?.("7", null) ?? Effect.succeedNone).toMatchObject({ _tag: "Some" });
  expect(yield* game.findProfile(adaId, ["groups"])).toMatchObject({ value: { groups: adaProfile.groups } });
  expect(yield* game.hasItem?.(adaId, pass) ?? Effect.die("no items")).toBe("owned");
});

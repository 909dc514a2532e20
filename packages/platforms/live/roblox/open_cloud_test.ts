import { GamePlatform } from "@accountlink/core";
import { ChargedAccount, type GameItem } from "@accountlink/core/platforms";
import type { HttpAnswer, HttpAnswering } from "@accountlink/test-servers";
import { expect, testLive as test, test as testTimeless } from "@accountlink/test-servers/effect";
import { Context, Duration, Effect, Layer, Logger, Metric, Option, Redacted } from "effect";
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http";
import { TestClock } from "effect/testing";
import { liveGamePlatform } from "./game_platform.ts";
import { adaId, adaProfile, refused, startRoblox } from "./test_roblox.ts";

const apiKey = Redacted.make("the-key");
const resilience = { backoff: Duration.millis(1) };

const cloudUser = {
  path: `users/${adaId}`,
  id: adaId,
  name: "ada_cloud",
  displayName: "Ada of the cloud",
  about: "Analyst",
  createTime: "2020-03-19T05:54:55.360Z",
};
const ownedPass = { path: `users/${adaId}/inventory-items/1`, gamePassDetails: { gamePassId: "55" } };
const role = (id: string, rank: number, displayName: string) => ({
  path: `groups/7/roles/${id}`,
  id,
  rank,
  displayName,
});
const membership = (userId: string, roleId: string) => ({
  path: `groups/7/memberships/${userId}`,
  user: `users/${userId}`,
  role: `groups/7/roles/${roleId}`,
});

const user = `users/${adaId}`;
const inventory = `users/${adaId}/inventory-items`;
const members = "groups/7/memberships";
const memberships = "groups/-/memberships";

/** What Open Cloud answers, by path and, if there is one, page token. */
const answers: Readonly<Record<string, HttpAnswering>> = {
  [user]: { body: cloudUser },
  [inventory]: { body: { inventoryItems: [ownedPass], nextPageToken: "" } },
  "groups/7": { body: { id: "7", displayName: "Roblox", memberCount: 2 } },
  "groups/7/roles": { body: { groupRoles: [role("30", 254, "Admin")], nextPageToken: "more" } },
  "groups/7/roles more": { body: { groupRoles: [role("29", 0, "Guest")] } },
  [members]: { body: { groupMemberships: [membership(adaId, "30")], nextPageToken: "p2" } },
  [`${members} p2`]: { body: { groupMemberships: [membership("2", "29")], nextPageToken: "" } },
};

const refusal = (status: number, code: string): HttpAnswer => ({ status, body: { code, message: "" } });
const denied = refusal(403, "PERMISSION_DENIED");
const unknown = refusal(404, "NOT_FOUND");
const closed = refused(404, 0, "NotFound");

/** Starts Roblox with Open Cloud. Both have other answers for some paths. */
const setUp = Effect.fnUntraced(function* (
  cloud: Readonly<Record<string, HttpAnswering | ReadonlyArray<HttpAnswering>>> = {},
  legacy: (path: string) => HttpAnswering | undefined = () => undefined,
) {
  const others = new Map(Object.entries(cloud).map(([path, answer]) => [path, [answer].flat()]));
  const roblox = yield* startRoblox(({ path, query }) => {
    if (!path.startsWith("/apis/cloud/v2/")) return legacy(path);
    const token = query.get("pageToken");
    const asked = path.slice("/apis/cloud/v2/".length) + (token === null ? "" : ` ${token}`);
    const other = others.get(asked);
    return (other && other.length > 1 ? other.shift() : other?.[0]) ?? answers[asked] ?? unknown;
  });
  const layer = liveGamePlatform({ apiUrl: roblox.apiUrl, apiKey, resilience });
  const game = Context.get(yield* Layer.build(Layer.provide(layer, FetchHttpClient.layer)), GamePlatform);
  const askedOf = (isCloud: boolean) => {
    const paths = roblox.heard.filter(({ path }) => path.startsWith("/apis/cloud/") === isCloud);
    return paths.map(({ path }) => path);
  };
  return { game, heard: roblox.heard, cloud: () => askedOf(true), legacy: () => askedOf(false) };
});

type Game = GamePlatform["Service"];

const hasItem = (game: Game, item: GameItem["item"] = "gamepass", itemId = "55") =>
  game.hasItem?.(adaId, { item, itemId }) ?? Effect.die("no items");
const findGroup = (game: Game) => game.findGroup?.("7") ?? Effect.die("no groups");
const page = (game: Game, cursor: string | null = null) =>
  game.groupMembers?.("7", cursor) ?? Effect.die("no members");

test("with a key, users, groups and items come from Open Cloud", function* () {
  const { game, heard, cloud, legacy } = yield* setUp();
  expect(yield* game.hasUser(adaId)).toBe(true);
  expect(yield* game.findProfile(adaId, [])).toMatchObject({
    value: { id: adaId, username: "ada_cloud", created: "2020-03-19T05:54:55.360Z", isBanned: null },
  });
  const ranks = [
    { rank: 0, name: "Guest" },
    { rank: 254, name: "Admin" },
  ];
  const found = { id: "7", name: "Roblox", memberCount: 2, ranks };
  expect(yield* findGroup(game)).toEqual(Option.some(found));
  expect(yield* hasItem(game)).toBe("owned");
  expect(legacy()).toEqual([]);
  expect(cloud()).toHaveLength(6);
  expect(heard.map(({ headers }) => headers["x-api-key"])).toEqual(cloud().map(() => "the-key"));
  expect(heard.at(-1)?.query.get("filter")).toBe("gamePassIds=55");
});

test("a whole profile has the ban and the verified badge of the legacy route, which gets no key", function* () {
  const { game, heard, legacy } = yield* setUp();
  const named = { username: "ada_cloud", displayName: "Ada of the cloud" };
  expect(yield* game.findProfile(adaId)).toEqual(Option.some({ ...adaProfile, ...named }));
  expect(legacy().length).toBeGreaterThan(0);
  for (const { path, headers } of heard) expect("x-api-key" in headers).toBe(path.startsWith("/apis/cloud/"));
  const without = yield* setUp({}, (path) => (path.startsWith("/users/") ? closed : undefined));
  const unknowns = { ...named, isBanned: null, hasVerifiedBadge: null };
  expect(yield* without.game.findProfile(adaId)).toEqual(Option.some({ ...adaProfile, ...unknowns }));
});

test("the members of a group are read page by page, and its roles once", function* () {
  const { game, cloud, legacy } = yield* setUp();
  const first = Option.getOrThrow(yield* page(game));
  expect(first.members).toEqual([{ gameId: adaId, role: { id: 30, name: "Admin", rank: 254 } }]);
  expect(yield* page(game, first.next)).toEqual(
    Option.some({ members: [{ gameId: "2", role: { id: 29, name: "Guest", rank: 0 } }], next: null }),
  );
  expect(cloud().filter((path) => path.endsWith("/roles"))).toHaveLength(2);
  expect(legacy()).toEqual([]);
});

test("the needed groups of a user come from Open Cloud, and the roles of no other group are read", function* () {
  const ofUser = {
    groupMemberships: [
      membership(adaId, "30"),
      { ...membership(adaId, "80"), role: "groups/8/roles/80" },
      membership("2", "29"),
    ],
  };
  const { game, heard, cloud, legacy } = yield* setUp({ [memberships]: { body: ofUser } });
  const group = { id: 7, name: null, memberCount: null, hasVerifiedBadge: null };
  for (let asked = 0; asked < 2; asked++) {
    expect(yield* game.findProfile(adaId, ["groups"], ["7", "9"])).toMatchObject({
      value: { groups: [{ ...group, role: { id: 30, name: "Admin", rank: 254 } }] },
    });
  }
  expect(legacy()).toEqual([]);
  expect(cloud().filter((path) => path.includes("/groups/"))).toEqual(
    [memberships, "groups/7/roles", "groups/7/roles", memberships].map((path) => `/apis/cloud/v2/${path}`),
  );
  expect(heard.find(({ path }) => path.endsWith(memberships))?.query.get("filter")).toBe(
    `user in ['users/${adaId}']`,
  );
  expect(yield* game.findProfile(adaId, ["groups"])).toMatchObject({
    value: { groups: adaProfile.groups },
  });
});

test.each<HttpAnswer>([
  denied,
  unknown,
  { status: 500 },
  { body: { groupMemberships: [], nextPageToken: "p2" } },
  { body: { groupMemberships: [membership(adaId, "31")] } },
])("the legacy route tells the groups of a user if Open Cloud answers %j", function* (answer) {
  const { game } = yield* setUp({ [memberships]: answer });
  const found = Effect.map(
    game.findProfile(adaId, ["groups"], ["7"]),
    (profile) => Option.getOrThrow(profile).groups,
  );
  expect(yield* found).toEqual(adaProfile.groups);
  const down = yield* setUp({ [memberships]: answer }, () => closed);
  expect(yield* down.game.findProfile(adaId, ["groups"], ["7"])).toMatchObject({ value: { groups: null } });
});

test("pages that Open Cloud began are never continued by the legacy route", function* () {
  const { game, legacy } = yield* setUp({ [`${members} p2`]: [{ status: 500 }, denied] });
  const { next } = Option.getOrThrow(yield* page(game));
  expect(yield* Effect.flip(page(game, next))).toMatchObject({ _tag: "PlatformUnavailable" });
  expect(yield* page(game, next)).toEqual(Option.none());
  expect(legacy()).toEqual([]);
});

test("pages that the legacy route began are never continued by Open Cloud", function* () {
  const { game, cloud } = yield* setUp({ [members]: [{ status: 500 }, answers[members] as HttpAnswering] });
  const { next } = Option.getOrThrow(yield* page(game));
  expect(Option.isSome(yield* page(game, next))).toBe(true);
  expect(cloud()).toHaveLength(1);
});

test("a member whose role is new is never a member without a rank", function* () {
  const { game } = yield* setUp(
    {
      [members]: { body: { groupMemberships: [membership(adaId, "31")] } },
      "groups/7/roles more": [
        answers["groups/7/roles more"] as HttpAnswering,
        { body: { groupRoles: [role("31", 9, "Captain")] } },
      ],
    },
    () => ({ status: 503 }),
  );
  expect(Option.getOrThrow(yield* page(game)).members).toEqual([
    { gameId: adaId, role: { id: 31, name: "Captain", rank: 9 } },
  ]);
});

test("a role that the group does not list is asked about once in a minute", function* () {
  const strangers = [membership(adaId, "31"), membership("2", "29"), membership("3", "31")];
  const { game, cloud } = yield* setUp({ [members]: { body: { groupMemberships: strangers } } });
  for (let asked = 0; asked < 2; asked++) {
    expect(Option.getOrThrow(yield* page(game)).members).toEqual([
      { gameId: adaId, role: null },
      { gameId: "2", role: { id: 29, name: "Guest", rank: 0 } },
      { gameId: "3", role: null },
    ]);
  }
  // Two pages, read twice.
  expect(cloud().filter((path) => path.endsWith("/roles"))).toHaveLength(4);
});

test("a member has every role of the group, and one of an older answer the highest", function* () {
  const roles = ["29", "30"].map((id) => `groups/7/roles/${id}`);
  const [guest, admin] = [
    { id: 29, name: "Guest", rank: 0 },
    { id: 30, name: "Admin", rank: 254 },
  ];
  const several = { ...membership(adaId, "30"), roles };
  const { game, legacy } = yield* setUp({
    [memberships]: { body: { groupMemberships: [several] } },
    [members]: { body: { groupMemberships: [several, { ...membership("2", "30"), roles: [] }] } },
  });
  const found = Option.getOrThrow(yield* game.findProfile(adaId, ["groups"], ["7"])).groups;
  expect(found?.map((group) => [group.id, group.role])).toEqual([
    [7, admin],
    [7, guest],
  ]);
  expect(Option.getOrThrow(yield* page(game)).members).toEqual([
    { gameId: adaId, role: admin },
    { gameId: adaId, role: guest },
    { gameId: "2", role: admin },
  ]);
  expect(legacy()).toEqual([]);
});

const outages: ReadonlyArray<HttpAnswering> = [
  refused(401, 0, "Invalid API Key"),
  refused(403, 0, "Forbidden"),
  refusal(400, "INVALID_ARGUMENT"),
  { ...refusal(429, "RESOURCE_EXHAUSTED"), headers: { "x-ratelimit-reset": "60" } },
  refusal(500, "INTERNAL"),
  { status: 404, body: "<h1>Not found</h1>" },
  { body: "{}" },
  "cut",
];

test.each(outages)("if Open Cloud answers %j, the legacy routes answer", function* (answer) {
  const { game, cloud } = yield* setUp(
    Object.fromEntries(Object.keys(answers).map((path) => [path, answer])),
  );
  expect(yield* game.findProfile(adaId)).toEqual(Option.some(adaProfile));
  expect(yield* hasItem(game)).toBe("owned");
  expect(yield* findGroup(game)).toMatchObject({ value: { memberCount: 3 } });
  expect(yield* page(game)).toMatchObject({ value: { next: "a+b=_1" } });
  // None is sent again.
  expect(new Set(cloud()).size).toBe(cloud().length);
});

const questions: Readonly<
  Record<
    string,
    [
      path: string,
      cloud: HttpAnswer,
      legacy: string,
      ask: (game: Game) => Effect.Effect<unknown, unknown>,
      known: unknown,
      refused: unknown,
    ]
  >
> = {
  user: [user, unknown, "/users/", (game) => game.hasUser(adaId), true, false],
  "private inventory": [inventory, denied, "/inventory/", (game) => hasItem(game), "owned", "private"],
  "inventory of nobody": [inventory, unknown, "/inventory/", (game) => hasItem(game), "owned", "not_owned"],
  "hidden members": [
    members,
    denied,
    "/groups/",
    (game) => Effect.map(page(game), Option.isSome),
    true,
    false,
  ],
};

test.each(Object.entries(questions))(
  "Open Cloud's refusal (%s) counts if the legacy route is closed, but not if it is down",
  function* ([, [path, answer, service, ask, known, meaning]]) {
    const refusing = (legacy: HttpAnswering | undefined) =>
      Effect.map(
        setUp({ [path]: answer }, (asked) => (asked.startsWith(service) ? legacy : undefined)),
        ({ game }) => game,
      );
    expect(yield* ask(yield* refusing(undefined))).toBe(known);
    for (const answered of [closed, refused(403, 0, "Forbidden"), { status: 410 }])
      expect(yield* ask(yield* refusing(answered))).toBe(meaning);
    for (const answered of [{ status: 500 }, { status: 429, headers: { "retry-after": "60" } }])
      expect(yield* Effect.flip(ask(yield* refusing(answered)))).toMatchObject({
        _tag: "PlatformUnavailable",
      });
  },
);

test("an item that an inventory lacks is looked up once", function* () {
  const empty = { body: { inventoryItems: [] } };
  const { game, legacy } = yield* setUp({ [inventory]: empty });
  for (let asked = 0; asked < 2; asked++) {
    expect(yield* hasItem(game)).toBe("not_owned");
    expect(yield* hasItem(game, "asset", "58")).toBe("no_item");
  }
  expect(legacy()).toEqual([
    "/apis/game-passes/v1/game-passes/55/product-info",
    "/economy/v2/assets/58/details",
  ]);
  const down = yield* setUp({ [inventory]: empty }, () => ({ status: 500 }));
  expect(yield* hasItem(down.game)).toBe("not_owned");
});

test("another item, or a page that is not the last, is no answer", function* () {
  const badge = { body: { inventoryItems: [{ ...ownedPass, badgeDetails: { badgeId: "56" } }] } };
  const other = yield* setUp({ [inventory]: badge });
  expect(yield* hasItem(other.game, "gamepass", "56")).toBe("no_item");
  expect(yield* hasItem(other.game, "badge", "56")).toBe("owned");
  const partial = yield* setUp({ [inventory]: { body: { inventoryItems: [], nextPageToken: "p2" } } });
  expect(yield* hasItem(partial.game)).toBe("owned");
  expect(partial.legacy()).toHaveLength(1);
});

const legacyUser = { id: Number(adaId), name: "ada_g" };

testTimeless.each<[status: number, headers: Record<string, string>, seconds: number, logged: number]>([
  [401, {}, 60, 1],
  [403, {}, 60, 1],
  [429, { "retry-after": "20" }, 20, 0],
  [429, { "x-ratelimit-reset": "600" }, 60, 0],
  [429, {}, 60, 0],
])("after %i with %j nothing is asked of Open Cloud for %i s", function* ([status, headers, seconds, lines]) {
  let [asked, charged] = [0, 0];
  const logged: Array<unknown> = [];
  const roblox = HttpClient.make((request) => {
    const isCloud = request.url.includes("/cloud/");
    if (isCloud) asked++;
    const response = isCloud
      ? Response.json({ errors: [{ code: 0, message: "the-key" }] }, { status, headers })
      : Response.json(legacyUser);
    return Effect.succeed(HttpClientResponse.fromWeb(request, response));
  });
  const services = yield* Layer.build(
    Layer.provide(liveGamePlatform({ apiKey }), Layer.succeed(HttpClient.HttpClient, roblox)),
  );
  const game = Context.get(services, GamePlatform);
  const account = { name: "acme", check: Effect.void, charge: Effect.sync(() => void charged++) };
  const ask = game
    .hasUser(adaId)
    .pipe(
      Effect.provideService(ChargedAccount, account),
      Effect.provide(Logger.layer([Logger.make(({ message }) => logged.push(message))])),
    );
  for (let times = 0; times < 3; times++) expect(yield* ask).toBe(true);
  yield* TestClock.adjust(Duration.seconds(seconds - 1));
  yield* ask;
  expect(asked).toBe(1);
  yield* TestClock.adjust("1 second");
  yield* ask;
  expect(asked).toBe(2);
  // The key is the operator's, so its refusal is no account's fault.
  expect(charged).toBe(0);
  expect(logged).toHaveLength(lines * 2);
  expect(JSON.stringify(logged)).not.toContain("the-key");
});

test("a metric tells which source answers", () =>
  Effect.gen(function* () {
    const { game } = yield* setUp({ [inventory]: { status: 500 } });
    yield* game.hasUser(adaId);
    yield* hasItem(game);
    const state = yield* Metric.snapshot;
    const counted = state.flatMap(({ id, attributes, state: value }) =>
      id === "accountlink_game_answers_total"
        ? [{ ...attributes, count: (value as { count: number }).count }]
        : [],
    );
    expect(counted).toEqual([
      { question: "user", source: "open_cloud", count: 1 },
      { question: "item", source: "legacy", count: 1 },
    ]);
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())));

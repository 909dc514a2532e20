import { type GameId, GamePlatform, PlatformUnavailable } from "@accountlink/core";
import { featuresOf } from "@accountlink/core/platforms";
import type { HttpAnswer } from "@accountlink/test-servers";
import { expect, testLive as test, test as testOnClock } from "@accountlink/test-servers/effect";
import { gamePlatformSuite } from "@accountlink/testing/conformance";
import { Clock, Context, Duration, Effect, Fiber, Layer, Logger, Option, Redacted } from "effect";
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http";
import { TestClock } from "effect/testing";
import * as vitest from "vitest";
import { RequestFailed } from "../../http/mod.ts";
import { httpGamePlatform } from "./game_platform.ts";
import { gameToken, player, playerId, startGame } from "./test_game.ts";

const layerAt = (url: string) =>
  httpGamePlatform({
    url,
    token: Redacted.make(gameToken),
    resilience: { backoff: Duration.millis(1) },
  }).pipe(Layer.provide(FetchHttpClient.layer));

gamePlatformSuite({
  name: "A game over HTTP",
  layer: Layer.unwrap(Effect.map(startGame(), ({ url }) => layerAt(url))),
  test: vitest,
  facts: {
    user: { id: playerId, username: player.username, description: player.description },
    absent: "404" as GameId,
    group: { id: "7", rank: 200 },
    owned: { item: "app", itemId: "55" },
    notOwned: { item: "app", itemId: "56" },
    noItem: { item: "app", itemId: "57" },
  },
});

const setUp = Effect.fnUntraced(function* (instead?: Parameters<typeof startGame>[0]) {
  const { url, heard } = yield* startGame(instead);
  const game = Context.get(yield* Layer.build(layerAt(url)), GamePlatform);
  return { game, heard };
});

test("a profile has what the game tells, and every request has the token", function* () {
  const { game, heard } = yield* setUp();
  expect(yield* game.findProfile(playerId)).toEqual(
    Option.some({
      id: player.id,
      username: "Ada_G",
      displayName: "Ada",
      description: "ten quiet maps",
      created: "2012-03-19T05:54:55.000Z",
      isBanned: false,
      hasVerifiedBadge: null,
      avatar: { headshot: player.avatarUrl, fullBody: null },
      badges: [],
      groups: [
        {
          id: 7,
          name: "Miners",
          memberCount: null,
          hasVerifiedBadge: null,
          role: { id: 200, name: "Officer", rank: 200 },
        },
      ],
    }),
  );
  expect(heard.map(({ headers }) => [headers.authorization, headers.accept])).toEqual(
    heard.map(() => [`Bearer ${gameToken}`, "application/json"]),
  );
});

test("a game with a user's ID and name alone is asked for nothing else", function* () {
  const { game, heard } = yield* setUp(({ path }) =>
    path === "/links/" ? { status: 404 } : { body: { id: player.id, username: "ada", createdAt: null } },
  );
  const none = { names: false, groups: false, descriptions: false, ages: false, items: [] };
  expect(yield* featuresOf(game)).toEqual(none);
  expect(yield* game.findProfile(playerId)).toMatchObject({ value: { groups: null, created: null } });
  expect(yield* game.findUserByName?.("ada") ?? Effect.die("no names")).toEqual(Option.none());
  expect(yield* game.findGroup?.("7") ?? Effect.die("no groups")).toEqual(Option.none());
  const owned = game.hasItem?.(playerId, { item: "app", itemId: "55" }) ?? Effect.die("no items");
  expect(yield* Effect.flip(owned)).toBeInstanceOf(PlatformUnavailable);
  expect(heard.map(({ path }) => path)).toEqual(["/links/", `/links/users/${player.id}`]);
});

test("before a game has told what it has, neither names nor groups are absent", function* () {
  const { game } = yield* setUp(({ path }) => (path === "/links/" ? { status: 503 } : undefined));
  const byName = game.findUserByName?.("ada") ?? Effect.die("no names");
  const group = game.findGroup?.("7") ?? Effect.die("no groups");
  expect(yield* Effect.flip(byName)).toBeInstanceOf(PlatformUnavailable);
  expect(yield* Effect.flip(group)).toBeInstanceOf(PlatformUnavailable);
  expect(yield* game.findProfile(playerId)).toMatchObject({ value: { groups: null } });
});

test.each<[body: object | string, field: string]>([
  [{ ...player, createdAt: "yesterday" }, '"createdAt"'],
  [{ ...player, createdAt: "1" }, '"createdAt"'],
  [{ ...player, createdAt: "2012-03-19T05:54:55" }, '"createdAt"'],
  [{ ...player, username: "a\tb" }, '"username"'],
  [{ ...player, username: "" }, '"username"'],
  [{ ...player, username: "勇".repeat(101) }, '"username"'],
  [{ ...player, banned: "no" }, '"banned"'],
  [{ id: player.id }, '"username"'],
  [{ ...player, id: "2" }, "id or name"],
  ["<h1>Hello</h1>", "JSON object"],
])("an answer %j about a user is an outage that names the field %s", function* ([body, field]) {
  const { game } = yield* setUp(({ path }) => (path.includes("/users/") ? { body } : undefined));
  const { cause } = yield* Effect.flip(game.hasUser(playerId));
  expect(cause).toBeInstanceOf(RequestFailed);
  expect((cause as RequestFailed).message).toBe(
    `Cannot ask the platform: its response to GET /users/{gameId} has no right ${field}`,
  );
});

test("a wrong field is logged once, however often it is asked for", function* () {
  const lines: Array<unknown> = [];
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))]);
  const { game } = yield* setUp(({ path }) =>
    path.includes("/users/") ? { body: { ...player, banned: "no" } } : undefined,
  );
  yield* Effect.all([game.hasUser(playerId), game.hasUser(playerId)].map(Effect.flip)).pipe(
    Effect.provide(logger),
  );
  expect(lines).toEqual([
    ['Cannot ask the platform: its response to GET /users/{gameId} has no right "banned"'],
  ]);
});

test.each<[createdAt: string, created: string | null]>([
  ["2012-03-19T07:54:55.5+02:00", "2012-03-19T05:54:55.500Z"],
  ["1990-01-01T00:00:00Z", "1990-01-01T00:00:00.000Z"],
  ["1989-12-31T23:59:59Z", null],
  ["0001-01-01T00:00:00Z", null],
])("an account made at %s is as old as %s", function* ([createdAt, created]) {
  const { game } = yield* setUp(({ path }) =>
    path.includes("/users/") ? { body: { ...player, createdAt } } : undefined,
  );
  expect(yield* game.findProfile(playerId, [])).toMatchObject({ value: { created } });
});

test.each<[answer: HttpAnswer, line: string]>([
  [{ status: 401 }, "it refuses the token at GET /users/{gameId} (401)"],
  [{ status: 403 }, "it refuses the token at GET /users/{gameId} (403)"],
  [
    { status: 302, headers: { location: "/" } },
    "it redirects GET /users/{gameId} (302), and redirects are not followed",
  ],
  [{ status: 418 }, "it answers GET /users/{gameId} with the status 418"],
])("an answer %j is an outage that is one line of the log", function* ([answer, line]) {
  const lines: Array<unknown> = [];
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))]);
  const { game } = yield* setUp(({ path }) => (path.includes("/users/") ? answer : undefined));
  for (let times = 0; times < 3; times++) {
    expect(yield* Effect.flip(game.hasUser(playerId)).pipe(Effect.provide(logger))).toBeInstanceOf(
      PlatformUnavailable,
    );
  }
  expect(lines).toEqual([[`Cannot ask the game: ${line}`]]);
});

test("only a page that browsers may open is the page of a user", function* () {
  let profileUrl: string | null = player.profileUrl;
  const { game } = yield* setUp(({ path }) =>
    path.includes("/users/") ? { body: { ...player, profileUrl } } : undefined,
  );
  const page = game.profilePage?.(playerId) ?? Effect.die("no pages");
  expect(yield* page).toBe(player.profileUrl);
  profileUrl = "javascript:alert(1)";
  expect(yield* page).toBeNull();
  profileUrl = null;
  expect(yield* page).toBeNull();
});

testOnClock("a 429 waits as long as it says", function* () {
  const asked: Array<number> = [];
  const client = HttpClient.make((request, { pathname }) =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      const isOfUser = pathname.includes("/users/");
      if (isOfUser) asked.push(at);
      return HttpClientResponse.fromWeb(
        request,
        isOfUser && asked.length === 1
          ? new Response("{}", { status: 429, headers: { "retry-after": "2" } })
          : Response.json(isOfUser ? player : { features: [] }),
      );
    }),
  );
  const layer = httpGamePlatform({ url: "https://play.example", token: Redacted.make(gameToken) });
  const built = yield* Layer.build(Layer.provide(layer, Layer.succeed(HttpClient.HttpClient, client)));
  const asking = yield* Effect.forkScoped(Context.get(built, GamePlatform).hasUser(playerId));
  yield* TestClock.adjust("2 seconds");
  expect(yield* Fiber.join(asking)).toBe(true);
  expect(asked).toEqual([0, 2_000]);
});

testOnClock(
  "features are read at the start, until the game answers, and then every 10 minutes",
  function* () {
    let status = 503;
    let features: ReadonlyArray<string> = ["names"];
    const client = HttpClient.make((request) =>
      Effect.sync(() =>
        HttpClientResponse.fromWeb(
          request,
          status === 200 ? Response.json({ features }) : new Response("", { status }),
        ),
      ),
    );
    const layer = httpGamePlatform({ url: "https://play.example", token: Redacted.make(gameToken) });
    const building = yield* Effect.forkScoped(
      Layer.build(Layer.provide(layer, Layer.succeed(HttpClient.HttpClient, client))),
    );
    yield* TestClock.adjust("10 seconds");
    const game = Context.get(yield* Fiber.join(building), GamePlatform);
    const has = Effect.map(featuresOf(game), ({ names, groups }) => ({ names, groups }));
    expect(yield* has).toEqual({ names: false, groups: false });
    status = 200;
    yield* TestClock.adjust("20 seconds");
    expect(yield* has).toEqual({ names: true, groups: false });
    features = ["groups"];
    yield* TestClock.adjust("9 minutes");
    expect(yield* has).toEqual({ names: true, groups: false });
    yield* TestClock.adjust("1 minutes");
    expect(yield* has).toEqual({ names: false, groups: true });
    status = 503;
    yield* TestClock.adjust("11 minutes");
    expect(yield* has).toEqual({ names: false, groups: true });
  },
);

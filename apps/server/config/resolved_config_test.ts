import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Redacted } from "effect";
import { readConfig } from "./config.ts";
import { resolveConfig } from "./resolved_config.ts";

const resolved = (environment: Readonly<Record<string, string>>) =>
  Effect.flatMap(readConfig(environment), resolveConfig);

test("without configuration, the server is a demo in its own folder", function* () {
  expect(yield* resolved({})).toMatchObject({
    demo: true,
    storage: { kind: "embedded", folder: "data/demo" },
  });
  expect(yield* resolved({ ACCOUNTLINK_DATA_DIR: "/srv/links", ACCOUNTLINK_PORT: "1" })).toMatchObject({
    demo: true,
    storage: { folder: "/srv/links/demo" },
  });
  expect(yield* resolved({ ACCOUNTLINK_DATA: "big" })).toMatchObject({
    demo: true,
    storage: { folder: "data/demo-big" },
  });
});

test("a server with a configured storage or fixture is not a demo", function* () {
  expect(yield* resolved({ ACCOUNTLINK_FIXTURE: "a.json", ACCOUNTLINK_DATA_DIR: "./data" })).toMatchObject({
    demo: false,
    storage: { kind: "embedded", folder: "data" },
  });
  expect(yield* resolved({ ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_PLATFORM: "dev" })).toMatchObject({
    demo: false,
    storage: { kind: "embedded", folder: "data" },
  });
  expect(yield* resolved({ ACCOUNTLINK_STORAGE: "memory", ACCOUNTLINK_FIXTURE: "a.json" })).toMatchObject({
    demo: false,
    storage: { kind: "memory" },
  });
});

test("resolveConfig uses the configured database and Redis", function* () {
  const { demo, storage, cache } = yield* resolved({
    ACCOUNTLINK_STORAGE: "postgres",
    ACCOUNTLINK_DATABASE_URL: "postgres://ada:pass@db/links",
    ACCOUNTLINK_DATABASE_CONNECTIONS: "3",
    ACCOUNTLINK_CACHE: "redis",
    ACCOUNTLINK_REDIS_URL: "redis://cache",
    ACCOUNTLINK_PLATFORM: "dev",
  });
  expect(demo).toBe(false);
  expect(storage).toEqual({
    kind: "postgres",
    url: Redacted.make("postgres://ada:pass@db/links"),
    maxConnections: 3,
  });
  expect(cache).toEqual({ kind: "redis", url: Redacted.make("redis://cache"), prefix: "accountlink:" });
});

test.each([
  { environment: { ACCOUNTLINK_STORAGE: "postgres" }, variable: "ACCOUNTLINK_DATABASE_URL" },
  { environment: { ACCOUNTLINK_CACHE: "redis" }, variable: "ACCOUNTLINK_REDIS_URL" },
])("a configuration that needs $variable is refused without it", function* ({ environment, variable }) {
  const { message } = yield* Effect.flip(resolved({ ...environment, ACCOUNTLINK_PLATFORM: "dev" }));
  expect(message).toMatch(new RegExp(`^${variable} is not set, expected .* is (postgres|redis)\\)$`));
});

test.each(["sslmode=on", "tls=yes", "schema=links"])(
  "a database URL with %s is refused with the name of its variable",
  function* (parameter) {
    const environment = {
      ACCOUNTLINK_STORAGE: "postgres",
      ACCOUNTLINK_DATABASE_URL: `postgres://ada:sesame@db/links?${parameter}`,
      ACCOUNTLINK_PLATFORM: "dev",
    };
    const { message } = yield* Effect.flip(resolved(environment));
    expect(message).toMatch(
      /^ACCOUNTLINK_DATABASE_URL is refused: Cannot use database "db.*": its URL has .*, expected /,
    );
    expect(message).not.toContain("sesame");
  },
);

test("resolveConfig requires ACCOUNTLINK_PLATFORM without a fixture, except in the demo", function* () {
  const { message } = yield* Effect.flip(resolved({ ACCOUNTLINK_STORAGE: "embedded" }));
  expect(message).toContain("ACCOUNTLINK_PLATFORM is not set, expected one of dev, live, none");
});

test("resolveConfig requires ACCOUNTLINK_PLATFORM if the public URL uses https", function* () {
  const environment = { ACCOUNTLINK_PUBLIC_URL: "https://links.example" };
  const { message } = yield* Effect.flip(resolved(environment));
  expect(message).toMatch(
    /^ACCOUNTLINK_PLATFORM is not set, .* is https; on dev anyone can sign in as anybody\)$/,
  );
  const { platform } = yield* resolved({ ...environment, ACCOUNTLINK_PLATFORM: "dev" });
  expect(platform.kind).toBe("dev");
});

test.each([
  { ACCOUNTLINK_STORAGE: "memory" },
  { ACCOUNTLINK_PUBLIC_URL: "https://links.example" },
  { ACCOUNTLINK_STORAGE: "postgres", ACCOUNTLINK_DATABASE_URL: "postgres://db/links" },
])("with a fixture, the platform is dev under %j", function* (environment) {
  const { platform } = yield* resolved({ ...environment, ACCOUNTLINK_FIXTURE: "a.json" });
  expect(platform.kind).toBe("dev");
});

const live = {
  ACCOUNTLINK_PLATFORM: "live",
  ACCOUNTLINK_PUBLIC_URL: "https://links.example",
  ACCOUNTLINK_CHAT_BOT_TOKEN: "bot-token",
  ACCOUNTLINK_CHAT_CLIENT_ID: "1",
  ACCOUNTLINK_CHAT_CLIENT_SECRET: "chat-secret",
};

const withGame = {
  ...live,
  ACCOUNTLINK_GAME_CLIENT_ID: "2",
  ACCOUNTLINK_GAME_CLIENT_SECRET: "game-secret",
};

test("every missing variable of the live platforms is reported at once", function* () {
  const { problem, others = [] } = yield* Effect.flip(resolved({ ACCOUNTLINK_PLATFORM: "live" }));
  expect([problem, ...others]).toEqual(
    Object.keys(live)
      .filter((name) => name !== "ACCOUNTLINK_PLATFORM")
      .map((name) =>
        expect.stringMatching(`^${name} is not set, expected .* \\(ACCOUNTLINK_PLATFORM is live\\)$`),
      ),
  );
});

test.each<[Record<string, string>, ReadonlyArray<string>]>([
  [{}, ["known", "connection", "oauth", "words"]],
  [{ ACCOUNTLINK_GAME_PROOFS: "words, connection" }, ["words", "connection"]],
  [live, ["known", "connection", "words"]],
  [withGame, ["known", "connection", "oauth", "words"]],
  [{ ...withGame, ACCOUNTLINK_GAME_PROOFS: "words" }, ["words"]],
])("the ways to prove a game account under %j are %j", function* ([environment, ways]) {
  expect((yield* resolved(environment)).gameWays).toEqual(ways);
});

const ownGame = {
  ...live,
  ACCOUNTLINK_GAME_URL: "http://game.internal:9000/links/",
  ACCOUNTLINK_GAME_TOKEN: "token",
  ACCOUNTLINK_GAME_NAME: "Voxel",
};

test.each<[Record<string, string>, ReadonlyArray<string>]>([
  [{}, ["known", "words"]],
  [{ ACCOUNTLINK_GAME_CONNECTION: "steam" }, ["known", "connection", "words"]],
  [
    {
      ACCOUNTLINK_GAME_ISSUER: "https://id.example",
      ACCOUNTLINK_GAME_CLIENT_ID: "2",
      ACCOUNTLINK_GAME_CLIENT_SECRET: "s",
    },
    ["known", "oauth", "words"],
  ],
])("a game of one's own with %j has the ways %j", function* ([environment, ways]) {
  const { gameWays, platform } = yield* resolved({ ...ownGame, ...environment });
  expect(gameWays).toEqual(ways);
  expect(platform).toMatchObject({ game: { kind: "http", url: "http://game.internal:9000/links" } });
});

test.each<[Record<string, string | undefined>, string]>([
  [{ ACCOUNTLINK_GAME_TOKEN: undefined }, "ACCOUNTLINK_GAME_TOKEN is not set"],
  [{ ACCOUNTLINK_GAME_NAME: undefined }, "ACCOUNTLINK_GAME_NAME is not set"],
  [{ ACCOUNTLINK_GAME_PROOFS: "connection" }, "ACCOUNTLINK_GAME_CONNECTION is not set"],
  [{ ACCOUNTLINK_GAME_ISSUER: "https://id.example" }, "ACCOUNTLINK_GAME_CLIENT_ID is not set"],
  [{ ACCOUNTLINK_GAME_CLIENT_ID: "2" }, "ACCOUNTLINK_GAME_ISSUER is not set"],
  [{ ACCOUNTLINK_GAME_URL: undefined }, "ACCOUNTLINK_GAME_URL is not set"],
  [{ ACCOUNTLINK_GAME_URL: "http://play.example" }, 'ACCOUNTLINK_GAME_URL is "http://play.example"'],
  [{ ACCOUNTLINK_GAME_URL: "http://8.8.8.8" }, 'ACCOUNTLINK_GAME_URL is "http://8.8.8.8"'],
  [{ ACCOUNTLINK_PLATFORM: "dev" }, 'ACCOUNTLINK_PLATFORM is "dev", expected live'],
  [{ ACCOUNTLINK_PLATFORM: undefined }, "ACCOUNTLINK_PLATFORM is not set"],
])("a game of one's own with %j is refused", function* ([changes, problem]) {
  const environment = Object.entries({ ...ownGame, ...changes }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const refused = yield* Effect.flip(resolved(Object.fromEntries(environment)));
  expect(refused.problem).toContain(problem);
});

test("a sign-in at the game platform needs an application there", function* () {
  const named = { ...live, ACCOUNTLINK_GAME_PROOFS: "oauth" };
  const { problem, others = [] } = yield* Effect.flip(resolved(named));
  expect(problem).toMatch(/^ACCOUNTLINK_GAME_CLIENT_ID is not set/);
  expect(others[0]).toMatch(/^ACCOUNTLINK_GAME_CLIENT_SECRET is not set/);
  const half = yield* Effect.flip(resolved({ ...live, ACCOUNTLINK_GAME_CLIENT_ID: "2" }));
  expect(half.problem).toMatch(/^ACCOUNTLINK_GAME_CLIENT_SECRET is not set/);
});

test.each(["password", "words,words", "oauth,,words", ","])("the ways %j are refused", function* (value) {
  const { problem } = yield* Effect.flip(resolved({ ACCOUNTLINK_GAME_PROOFS: value }));
  expect(problem).toBe(
    `ACCOUNTLINK_GAME_PROOFS is "${value}", expected some of known, connection, oauth, words, separated by commas`,
  );
});

import { ChatIdentity, ChatPlatform, GamePlatform, GuildId, InvalidParameter } from "@accountlink/core";
import { GameWays } from "@accountlink/core/flow";
import { featuresOf, IsRoblox } from "@accountlink/core/platforms";
import { CacheMemory } from "@accountlink/memory";
import { gameToken, player, startGame } from "@accountlink/platforms/test_game";
import { startHttpServer } from "@accountlink/test-servers";
import { assert, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, identity, Layer } from "effect";
import { gameOverHttp, live } from "./live.ts";
import { AccountLink, createAccountLink, InvalidOptions, Links } from "./mod.ts";

const options = {
  publicUrl: "https://links.example",
  discord: { botToken: "bot token", clientId: "1", clientSecret: "secret" },
};

test("`gameOverHttp` links users of a game of one's own, in the ways that are given", function* () {
  const { url, heard } = yield* startGame();
  const own = (more: object = {}) =>
    live({ ...options, game: gameOverHttp({ url: `${url}/`, name: "Voxel", token: gameToken, ...more }) });
  yield* Effect.gen(function* () {
    const links = yield* Links;
    yield* links.set("100001", player.id);
    assert.strictEqual((yield* links.get("100001"))?.gameId, player.id);
    assert.instanceOf(yield* Effect.flip(links.set("100001", "404")), InvalidParameter);
  }).pipe(Effect.provide(AccountLink.layerMemory({ platforms: own() })));
  assert.strictEqual(heard[0]?.headers.authorization, `Bearer ${gameToken}`);

  const waysOf = (more?: object) => Effect.provide(GameWays, Layer.provide(own(more), CacheMemory.layer));
  const signIn = { issuer: `${url}/id`, clientId: "2", clientSecret: "secret" };
  assert.deepStrictEqual(yield* waysOf(), ["known", "words"]);
  assert.deepStrictEqual(yield* waysOf({ connection: "steam" }), ["known", "connection", "words"]);
  assert.deepStrictEqual(yield* waysOf({ signIn }), ["known", "oauth", "words"]);
  const told = Effect.all([IsRoblox, Effect.flatMap(GamePlatform, featuresOf)]);
  const [isRoblox, features] = yield* Effect.provide(told, Layer.provide(own(), CacheMemory.layer));
  assert.deepStrictEqual([isRoblox, features.items], [false, ["app"]]);
});

test.each<[wrong: object, problem: RegExp]>([
  [{ url: "http://play.example" }, /^gameOverHttp\.url is "http:\/\/play\.example", expected an https URL/],
  [{ url: "https://play.example/?a=1" }, /^gameOverHttp\.url /],
  [{ token: "my token" }, /^gameOverHttp\.token expected text without white space$/],
  [{ name: "" }, /^gameOverHttp\.name /],
  [{ connection: "my steam" }, /^gameOverHttp\.connection /],
  [{ sigIn: {} }, /^gameOverHttp\.sigIn is unknown/],
  [
    { signIn: { issuer: "http://id.play.example", clientId: "1", clientSecret: "a b" } },
    /^gameOverHttp\.signIn\.issuer /,
  ],
])("`gameOverHttp` refuses %j as the variables of the server do", function* ([wrong, problem]) {
  const right = { url: "https://play.example", name: "Voxel", token: "token" };
  const refused = yield* Effect.flip(
    Effect.try({
      try: () => gameOverHttp({ ...right, ...wrong }),
      catch: (error) => error as InvalidOptions,
    }),
  );
  assert.instanceOf(refused, InvalidOptions);
  assert.match(refused.problems[0] ?? "", problem);
  assert.notInclude(refused.message, "a b");
});

test.each<[wrong: object, problem: RegExp]>([
  [
    { discord: { ...options.discord, botToken: undefined } },
    /^live\.discord\.botToken is of type undefined, expected text/,
  ],
  [{ discord: { ...options.discord, clientSecret: "" } }, /^live\.discord\.clientSecret expected text/],
  [{ discord: "bot token" }, /^live\.discord expected an object$/],
  [{ roblox: "api key" }, /^live\.roblox expected an object$/],
  [{ roblox: { apikey: "1" } }, /^live\.roblox\.apikey is unknown/],
  [
    { game: { url: "https://play.example" } },
    /^live\.game is of type object, expected a game that gameOverHttp made$/,
  ],
])("`live` refuses %j", function* ([wrong, problem]) {
  const refused = yield* Effect.flip(
    Effect.try({ try: () => live({ ...options, ...wrong }), catch: (error) => error as InvalidOptions }),
  );
  assert.instanceOf(refused, InvalidOptions);
  assert.match(refused.problems[0] ?? "", problem);
});

test("`live` asks Discord at other addresses", function* () {
  const { url, heard } = yield* startHttpServer(() => ({ body: { id: "1", name: "Chess Club" } }));
  const authorizationUrl = "https://sign-in.example/authorize";
  const discord = { ...options.discord, apiUrl: `${url}/api`, authorizationUrl };
  const platforms = Layer.provide(live({ ...options, discord }), CacheMemory.layer);
  yield* Effect.gen(function* () {
    yield* Effect.ignore((yield* ChatPlatform).findGuild(GuildId.make("70000")));
    const signIn = { redirectUri: "", state: "1", codeVerifier: "2", nonce: "3", guildId: null };
    assert.match(
      (yield* (yield* ChatIdentity).begin(signIn)).url,
      /^https:\/\/sign-in\.example\/authorize\?/,
    );
  }).pipe(Effect.provide(platforms));
  assert.match(heard[0]?.path ?? "", /^\/api\//);
});

test("pages have the names of the platforms, what `pages` changes, and texts of the program's own", function* () {
  const http = { publicUrl: "https://links.example", clientAddress: "none" } as const;
  const textOf = Effect.fnUntraced(function* (path: string, more: object) {
    const al = yield* Effect.acquireRelease(
      Effect.promise(() => createAccountLink({ platforms: live(options), http, ...more })),
      (service) => Effect.promise(() => service.close()),
    );
    const { sid } = yield* Effect.promise(() => al.sessions.create({ clientId: "1" }));
    const request = new Request(`https://links.example${path.replace("$sid", sid)}`);
    const page = yield* Effect.promise(async () => (await al.fetch(request)).text());
    return page.replaceAll(/<\/?(?:strong|bdi)\b[^>]*>/g, "");
  });
  const own = yield* textOf("/verify?sid=$sid", {});
  assert.include(own, "Discord");
  assert.include(own, "Request from links.example");
  assert.include(yield* textOf("/verify?sid=$sid", { scope: { account: "acme" } }), "Request from acme");
  const changed = yield* textOf("/go", {
    languages: { en: { "code.title": "Your code" } },
    pages: { gameName: "Voxel", contact: "help@links.example", privacyUrl: "https://links.example/privacy" },
  });
  for (const text of ["Your code", "mailto:help@links.example", "https://links.example/privacy"]) {
    assert.include(changed, text);
  }
  const wrong = { gameUserExists: () => true, pages: { privacyUrl: "javascript:alert(1)" } };
  assert.instanceOf(yield* Effect.promise(() => createAccountLink(wrong).catch(identity)), InvalidOptions);
});

import { ChatPlatform, GuildId, SessionSettings } from "@accountlink/core";
import { assert, test, testWith } from "@accountlink/test-servers/effect";
import { Config, ConfigProvider, Effect, Layer, Option, Stream } from "effect";
import { live } from "./live.ts";
import { AccountLink, LinkEvents, Links, Scope, Sessions } from "./mod.ts";

const settings = { gameUserExists: (gameId: string) => gameId !== "404" };

const testLinks = testWith(AccountLink.layerMemory(settings));

testLinks("the layers provide the services of the default scope and of another scope", function* () {
  const links = yield* Links;
  yield* links.set("100001", "1");
  const acme = yield* Links.pipe(Effect.provide(AccountLink.layerScope({ account: "acme" })));
  assert.isNull(yield* acme.get("100001"));
  assert.strictEqual((yield* links.get("100001"))?.gameId, "1");
  assert.deepInclude(yield* Effect.flip(links.set("100001", "404")), { _tag: "InvalidParameter" });
});

testLinks("a service inside another has services of its own", function* () {
  yield* (yield* Links).set("100001", "1");
  const inner = AccountLink.layerMemory({ ...settings, sessions: { life: 1_000 } });
  const [found, session] = yield* Effect.all([
    Effect.flatMap(Links, (links) => links.get("100001")),
    Effect.flatMap(Sessions, (sessions) => sessions.create({ clientId: "one" })),
  ]).pipe(Effect.provide(inner));
  assert.isNull(found);
  assert.strictEqual(session.expiresAt - session.createdAt, 1_000);
});

test("session rules come from the options, or else from `SessionSettings`", function* () {
  const lifeWith = (options: object) =>
    Effect.gen(function* () {
      const sessions = yield* Sessions;
      const { createdAt, expiresAt } = yield* sessions.create({ clientId: "one" });
      return expiresAt - createdAt;
    }).pipe(Effect.provide(AccountLink.layerMemory({ ...settings, ...options })));
  assert.strictEqual(yield* lifeWith({}), 300_000);
  assert.strictEqual(yield* lifeWith({ sessions: { life: 1_000 } }), 1_000);
  const around = Layer.succeed(SessionSettings, { ...SessionSettings.defaultValue(), life: 2_000 });
  assert.strictEqual(yield* Effect.provide(lifeWith({}), around), 2_000);
});

test("`layerConfig` reads options from the configuration, and fails if one is missing", function* () {
  const service = AccountLink.layerConfig({
    ...settings,
    scope: Config.map(Config.String("ACCOUNT"), (account) => ({ account })),
    redirectOrigins: Config.succeed(["https://example.com"]),
  });
  const account = Effect.map(Scope, (scope) => scope.account);
  const read = (env: Record<string, string>) =>
    Effect.provide(account, service).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(env)),
    );
  assert.strictEqual(yield* read({ ACCOUNT: "acme" }), "acme");
  assert.deepInclude(yield* Effect.flip(read({})), { _tag: "ConfigError" });
  assert.deepInclude(yield* Effect.flip(read({ ACCOUNT: "\0" })), { _tag: "InvalidOptions" });
});

testWith(
  AccountLink.layerMemory({
    gameUserExists: (gameId) => (gameId === "666" ? Effect.fail("down") : Effect.succeed(gameId !== "404")),
  }),
)("platform functions can return effects", function* () {
  const links = yield* Links;
  yield* links.set("100001", "1");
  assert.deepInclude(yield* Effect.flip(links.set("100001", "404")), { _tag: "InvalidParameter" });
  const error = yield* Effect.flip(links.set("100001", "666"));
  assert.deepInclude(error, { _tag: "PlatformUnavailable", cause: "down" });
});

testWith(
  AccountLink.layerMemory({ gameUserExists: (() => new Response(null, { status: 404 })) as () => never }),
)("a game user exists only where the program says true", function* () {
  const error = yield* Effect.flip((yield* Links).set("100001", "1"));
  assert.strictEqual(error._tag, "PlatformUnavailable");
  assert.match(
    String("cause" in error && error.cause),
    /gameUserExists returned .* object, expected true or false/,
  );
});

testLinks("the service provides a stream of events", function* () {
  const events = yield* (yield* LinkEvents).subscribe("linkChanged");
  yield* (yield* Links).set("100001", "1");
  const heard = yield* Stream.runHead(events);
  assert.strictEqual(Option.getOrThrow(heard).chatId, "100001");
});

testWith(
  AccountLink.layerMemory({
    platforms: live({
      publicUrl: "https://links.example",
      discord: { botToken: "token", clientId: "1", clientSecret: "secret" },
      roblox: { clientId: "2", clientSecret: "secret" },
    }),
  }),
)("a service with the live platforms offers the bot, and opening it calls neither platform", function* () {
  assert.isNull(yield* (yield* Links).get("100001"));
  const { botInvite } = yield* ChatPlatform;
  const page =
    "https://discord.com/oauth2/authorize?client_id=1&scope=bot+applications.commands&permissions=";
  assert.strictEqual(botInvite?.(null, "none"), `${page}0`);
  assert.strictEqual(
    botInvite?.(GuildId.make("70001"), "roles"),
    `${page}${2 ** 28 + 2 ** 27}&guild_id=70001&disable_guild_select=true`,
  );
});

import { PlatformMemory } from "@accountlink/memory";
import { assert, test } from "@accountlink/test-servers/effect";
import { aMember, makeSignIn } from "@accountlink/testing";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import type { DataScope } from "../data_scope.ts";
import { PlatformUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { GuildGuard, GuildManagers } from "../platforms/guild_guard.ts";
import { SignInStore } from "../sign_ins/sign_in_store.ts";
import { chatId, guildId, platform, servicesOn } from "../test_services.ts";
import { MemberStore } from "./member_store.ts";

const ada = chatId("10001");
const bob = chatId("10002");

const guild = {
  id: guildId,
  name: null,
  bot: true,
  members: [aMember(ada, { manager: true }), aMember(bob)],
};

/** Services with a platform that counts the questions about managers, and fails while `isDown`. */
const observedServices = () => {
  const state = { asked: 0, isDown: false, isOut: false };
  const observed = Layer.effect(
    ChatPlatform,
    Effect.map(ChatPlatform, (memory) => ({
      ...memory,
      isManager: (id, user) =>
        Effect.suspend(() => {
          state.asked++;
          return state.isDown
            ? Effect.fail(new PlatformUnavailable({ operation: "ChatPlatform.isManager" }))
            : Effect.map(memory.isManager(id, user), (is) => is && !state.isOut);
        }),
      joinedGuilds: (ids) => (state.isOut ? Effect.succeed(new Set()) : memory.joinedGuilds(ids)),
    })),
  ).pipe(Layer.provideMerge(PlatformMemory.layer({ ...platform, guilds: [guild] })));
  return { state, services: servicesOn(observed) };
};

const globalScopeOf = Effect.fnUntraced(function* (owner: ChatId | null) {
  const account = { name: `of ${owner}`, chatId: owner, tier: "free" } as const;
  return yield* (yield* ApiKeys).scopeOf(account, { kind: "global" });
});

/** Whether a key of the scope may name the guild: `true`, or the tag or reason of the error. */
const mayName = (scope: DataScope) =>
  GuildGuard.use((guard) => guard.enter(scope, guildId)).pipe(
    Effect.as<boolean | string>(true),
    Effect.catchTag("Forbidden", ({ reason }) => Effect.succeed(reason)),
    Effect.catch(({ _tag }) => Effect.succeed(_tag)),
  );

test("a member of the account must manage the guild, which is asked every 10 minutes", () => {
  const { state, services } = observedServices();
  return Effect.gen(function* () {
    const scopes = yield* Effect.forEach([ada, bob, null], globalScopeOf);
    const ask = Effect.forEach(scopes, mayName);
    const expected = [true, "not_guild_manager", true];
    assert.deepStrictEqual(yield* ask, expected);
    yield* TestClock.adjust("599 seconds");
    assert.deepStrictEqual(yield* ask, expected);
    assert.strictEqual(state.asked, 2);
    // The answer is believed for 5 seconds more.
    yield* TestClock.adjust("6 seconds");
    assert.deepStrictEqual(yield* ask, expected);
    assert.strictEqual(state.asked, 4);
  }).pipe(Effect.provide(services));
});

test("an invited manager counts from the moment of accepting", () => {
  const { services } = observedServices();
  return Effect.gen(function* () {
    const [scope, members] = [yield* globalScopeOf(bob), yield* MemberStore];
    const actor = { type: "account", id: scope.account, member: bob } as const;
    const change = { type: "add", chatId: ada, role: "admin" } as const;
    yield* members.change({ actor, requestId: null, account: scope.account, change, at: 0 });
    assert.strictEqual(yield* mayName(scope), "not_guild_manager");
    const signIn = makeSignIn({ chatId: ada, account: scope.account });
    yield* SignInStore.use((store) => store.create(signIn, null));
    yield* members.choose({ signIn: signIn.id, chatId: ada, account: scope.account, requestId: null, at: 1 });
    assert.strictEqual(yield* mayName(scope), true);
  }).pipe(Effect.provide(services));
});

test("a no that was got while the bot was out of the guild is none", () => {
  const { state, services } = observedServices();
  return Effect.gen(function* () {
    const scope = yield* globalScopeOf(ada);
    const managers = yield* GuildManagers;
    state.isOut = true;
    assert.strictEqual(yield* managers.mayName(scope, guildId), false);
    state.isOut = false;
    assert.strictEqual(yield* managers.mayName(scope, guildId), true);
  }).pipe(Effect.provide(services));
});

test("naming a guild fails while the platform is down, and works at once afterwards", () => {
  const { state, services } = observedServices();
  return Effect.gen(function* () {
    const scope = yield* globalScopeOf(ada);
    state.isDown = true;
    assert.strictEqual(yield* mayName(scope), "PlatformUnavailable");
    state.isDown = false;
    assert.strictEqual(yield* mayName(scope), true);
  }).pipe(Effect.provide(services));
});

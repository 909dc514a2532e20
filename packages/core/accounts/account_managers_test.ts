import { PlatformMemory } from "@accountlink/memory";
import { aMember, makeSignIn } from "@accountlink/testing";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import * as AccountLink from "../account_link.ts";
import { PlatformUnavailable } from "../errors.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { SignInStore } from "../sign_ins/sign_in_store.ts";
import { chatId, guildId, platform, stores } from "../test_services.ts";
import { MemberDisclosure } from "./member_disclosure.ts";
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
  const state = { asked: 0, isDown: false };
  const observed = Layer.effect(
    ChatPlatform,
    Effect.map(ChatPlatform, (memory) => ({
      ...memory,
      isManager: (id, user) =>
        Effect.suspend(() => {
          state.asked++;
          return state.isDown
            ? Effect.fail(new PlatformUnavailable({ operation: "ChatPlatform.isManager" }))
            : memory.isManager(id, user);
        }),
    })),
  ).pipe(Layer.provideMerge(PlatformMemory.layer({ ...platform, guilds: [guild] })));
  const services = AccountLink.layer.pipe(Layer.provideMerge(Layer.merge(stores, observed)), Layer.fresh);
  return { state, services };
};

const scopeOf = Effect.fnUntraced(function* (owner: typeof ada | null, kind: "global" | "guild") {
  const account = { name: `of ${owner}`, chatId: owner, tier: "free" } as const;
  return yield* (yield* ApiKeys).scopeOf(account, kind === "guild" ? { kind, guildId } : { kind });
});

describe("Nicknames and roles of a guild's members", () => {
  it.effect(
    "a global key sees nicknames and roles if a member of its account manages the guild, checked every 10 minutes",
    () => {
      const { state, services } = observedServices();
      return Effect.gen(function* () {
        const disclosure = yield* MemberDisclosure;
        const [managing, member, nobody] = [
          yield* scopeOf(ada, "global"),
          yield* scopeOf(bob, "global"),
          yield* scopeOf(null, "global"),
        ];
        const ask = Effect.forEach([managing, member, nobody], (scope) =>
          disclosure.isAllowed(scope, guildId),
        );
        assert.deepStrictEqual(yield* ask, [true, false, false]);
        yield* TestClock.adjust("599 seconds");
        assert.deepStrictEqual(yield* ask, [true, false, false]);
        assert.strictEqual(state.asked, 2);
        yield* TestClock.adjust("1 second");
        assert.deepStrictEqual(yield* ask, [true, false, false]);
        assert.strictEqual(state.asked, 4);
      }).pipe(Effect.provide(services));
    },
  );

  it.effect(
    "global keys see nicknames only after a manager who was added to their account has chosen the account",
    () => {
      const { services } = observedServices();
      return Effect.gen(function* () {
        const disclosure = yield* MemberDisclosure;
        const [scope, members] = [yield* scopeOf(bob, "global"), yield* MemberStore];
        const actor = { type: "account", id: scope.account, member: bob } as const;
        const change = { type: "add", chatId: ada, role: "moderator" } as const;
        yield* members.change({ actor, requestId: null, account: scope.account, change, at: 0 });
        assert.isFalse(yield* disclosure.isAllowed(scope, guildId));
        const signIn = makeSignIn({ chatId: ada, account: scope.account });
        yield* SignInStore.use((store) => store.create(signIn, null));
        yield* members.choose({ signIn: signIn.id, chatId: ada, account: scope.account, at: 1 });
        yield* TestClock.adjust("10 minutes");
        assert.isTrue(yield* disclosure.isAllowed(scope, guildId));
      }).pipe(Effect.provide(services));
    },
  );

  it.effect("global keys see neither nicknames nor roles while the platform is down", () => {
    const { state, services } = observedServices();
    return Effect.gen(function* () {
      const disclosure = yield* MemberDisclosure;
      const scope = yield* scopeOf(ada, "global");
      state.isDown = true;
      assert.isFalse(yield* disclosure.isAllowed(scope, guildId));
      state.isDown = false;
      assert.isTrue(yield* disclosure.isAllowed(scope, guildId));
    }).pipe(Effect.provide(services));
  });
});

import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import type { DataScope } from "../data_scope.ts";
import { botlessGuildId, chatId, gameId, guildId, later, operator, scopes, world } from "../test_world.ts";
import { LinkLookup } from "./link_lookup.ts";
import { LinkWriter } from "./link_writer.ts";

const plain = { guildId: null, resolved: false };
const inGuild = { guildId, resolved: false };

const link = (scope: DataScope, chat: string, game: string) =>
  Effect.flatMap(LinkWriter, (writer) =>
    writer.setGame(
      { scope, guildId: scope.kind === "guild" ? guildId : null, origin: operator },
      { chatId: chatId(chat), gameId: gameId(game) },
    ),
  );

const refusalOf = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flip(effect);

describe("LinkLookup", () => {
  it.effect("finds the game user of a chat user, in its scope only", () =>
    Effect.gen(function* () {
      const { global, guild } = yield* scopes;
      const lookup = yield* LinkLookup;
      yield* link(global, "10001", "1");
      assert.deepStrictEqual(yield* lookup.byChat(global, chatId("10001"), plain), {
        chatId: chatId("10001"),
        gameId: gameId("1"),
        resolved: { game: null, chat: null },
      });
      const refusal = yield* refusalOf(lookup.byChat(guild, chatId("10001"), inGuild));
      assert.strictEqual(refusal._tag, "LinkNotFound");
    }).pipe(Effect.provide(world)),
  );

  it.effect("lists the chat users of a game user, newest link first, also after a confirmation", () =>
    Effect.gen(function* () {
      const { global } = yield* scopes;
      const lookup = yield* LinkLookup;
      for (const chat of ["10002", "10001", "10003"]) {
        yield* link(global, chat, "1");
        yield* TestClock.adjust("1 second");
      }
      yield* link(global, "10002", "1");
      const { chatIds, count } = yield* lookup.byGame(global, gameId("1"), plain);
      assert.deepStrictEqual(chatIds, ["10003", "10001", "10002"].map(chatId));
      assert.strictEqual(count, 3);
    }).pipe(Effect.provide(world)),
  );

  it.effect("restricts the result to members of the guild", () =>
    Effect.gen(function* () {
      const { global } = yield* scopes;
      const lookup = yield* LinkLookup;
      yield* link(global, "10001", "1");
      yield* link(global, "10020", "1");
      yield* link(global, "10021", "2");
      const { chatIds } = yield* lookup.byGame(global, gameId("1"), inGuild);
      assert.deepStrictEqual(chatIds, [chatId("10001")]);
      const empty = yield* refusalOf(lookup.byGame(global, gameId("2"), inGuild));
      assert.strictEqual(empty._tag, "LinkNotFound");
      const outsider = yield* refusalOf(lookup.byChat(global, chatId("10020"), inGuild));
      assert.deepInclude(outsider, { _tag: "Forbidden", reason: "user_not_in_guild" });
    }).pipe(Effect.provide(world)),
  );

  it.effect("requires the guild of a guild scope, and the bot in any guild", () =>
    Effect.gen(function* () {
      const { global, guild } = yield* scopes;
      const lookup = yield* LinkLookup;
      const ask = (scope: DataScope, options: Parameters<typeof lookup.byChat>[2]) =>
        refusalOf(lookup.byChat(scope, chatId("10001"), options));
      assert.deepInclude(yield* ask(guild, plain), { _tag: "MissingParameter", parameters: ["guildId"] });
      const elsewhere = { guildId: botlessGuildId, resolved: false };
      assert.deepInclude(yield* ask(guild, elsewhere), { _tag: "Forbidden", reason: "wrong_guild" });
      assert.deepInclude(yield* ask(global, elsewhere), { _tag: "Forbidden", reason: "bot_not_in_guild" });
    }).pipe(Effect.provide(world)),
  );

  it.effect("adds profiles on request, with the membership of the guild", () =>
    Effect.gen(function* () {
      const { global } = yield* scopes;
      const lookup = yield* LinkLookup;
      yield* link(global, "10001", "1");
      const { resolved } = yield* lookup.byChat(global, chatId("10001"), { guildId, resolved: true });
      assert.strictEqual(resolved.game?.username, "game 1");
      assert.strictEqual(resolved.chat?.username, "chat 10001");
      assert.strictEqual(resolved.chat?.guild?.nickname, "nick 10001");
      const without = yield* lookup.byChat(global, chatId("10001"), { guildId: null, resolved: true });
      assert.isNull(without.resolved.chat?.guild);
    }).pipe(Effect.provide(world)),
  );

  it.effect("resolves the first 25 chat users of a game user", () =>
    Effect.gen(function* () {
      const { global } = yield* scopes;
      const lookup = yield* LinkLookup;
      for (let id = 10_001; id <= 10_030; id++) yield* link(global, String(id), "1");
      const found = yield* lookup.byGame(global, gameId("1"), { guildId: null, resolved: true });
      assert.strictEqual(found.count, 30);
      const resolved = found.resolved.chat?.map((profile) => profile?.id);
      assert.deepStrictEqual(resolved, found.chatIds.slice(0, 25));
    }).pipe(Effect.provide(world)),
  );

  describe("verification", () => {
    it.effect("succeeds for a user without a link", () =>
      Effect.gen(function* () {
        const { global } = yield* scopes;
        const lookup = yield* LinkLookup;
        const status = yield* lookup.verification(global, chatId("10001"), plain);
        assert.deepInclude(status, { linked: false, chatId: chatId("10001"), gameId: null, linkHash: null });
      }).pipe(Effect.provide(world)),
    );

    it.effect("has a hash that changes with the link only", () =>
      Effect.gen(function* () {
        const { global, guild } = yield* scopes;
        const lookup = yield* LinkLookup;
        const hashOf = (scope: DataScope) =>
          Effect.map(
            lookup.verification(scope, chatId("10001"), scope.kind === "guild" ? inGuild : plain),
            ({ linkHash }) => linkHash,
          );
        yield* link(global, "10001", "1");
        const first = yield* hashOf(global);
        yield* later("1 hour")(link(global, "10001", "1"));
        assert.strictEqual(yield* hashOf(global), first);
        assert.match(first ?? "", /^[\w-]{22,}$/);
        yield* link(global, "10001", "2");
        yield* link(global, "10001", "1");
        yield* link(guild, "10001", "1");
        assert.strictEqual(new Set([first, yield* hashOf(global), yield* hashOf(guild)]).size, 3);
      }).pipe(Effect.provide(world)),
    );
  });
});

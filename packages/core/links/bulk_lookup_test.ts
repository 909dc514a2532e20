import { PlatformMemory } from "@accountlink/platform-memory";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Result } from "effect";
import * as AccountLink from "../account_link.ts";
import { PlatformUnavailable } from "../errors.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { chatId, gameId, guildId, operator, platform, scopes, stores, world } from "../test_world.ts";
import { type BulkItem, BulkLookup } from "./bulk_lookup.ts";
import { LinkWriter } from "./link_writer.ts";

const plain = { guildId: null, resolved: false };

const lookupOf = (chat: string, game: string) => ({
  chatId: chatId(chat),
  gameId: gameId(game),
  resolved: { game: null, chat: null },
});

const outcome = <Data>({ input, result }: BulkItem<Data>) =>
  Result.isSuccess(result) ? [input, result.success] : [input, result.failure.code];

const linked = Effect.gen(function* () {
  const { global } = yield* scopes;
  const writer = yield* LinkWriter;
  for (const [chat, game] of [
    ["10001", "1"],
    ["10002", "1"],
    ["10020", "2"],
  ] as const) {
    yield* writer.setGame(
      { scope: global, guildId: null, origin: operator },
      { chatId: chatId(chat), gameId: gameId(game) },
    );
  }
  return global;
});

describe("BulkLookup", () => {
  it.effect("returns one result per input, in order and with duplicates", () =>
    Effect.gen(function* () {
      const scope = yield* linked;
      const bulk = yield* BulkLookup;
      const items = yield* bulk.byChats(scope, ["10003", "10001", "x", "10001"], plain);
      const found = lookupOf("10001", "1");
      assert.deepStrictEqual(items.map(outcome), [
        ["10003", "LINK_NOT_FOUND"],
        ["10001", found],
        ["x", "INVALID_PARAMETER"],
        ["10001", found],
      ]);
    }).pipe(Effect.provide(world)),
  );

  it.effect("restricts each item to members of the guild", () =>
    Effect.gen(function* () {
      const scope = yield* linked;
      const bulk = yield* BulkLookup;
      const options = { guildId, resolved: false };
      const chats = yield* bulk.byChats(scope, ["10020", "10002"], options);
      assert.deepStrictEqual(
        chats.map((item) => outcome(item)[1]),
        ["FORBIDDEN", lookupOf("10002", "1")],
      );
      const games = yield* bulk.byGames(scope, ["2", "1", "12345678901234567890123456789012345"], options);
      const [, one] = games;
      assert.strictEqual(outcome(games[0] as (typeof games)[number])[1], "LINK_NOT_FOUND");
      assert.deepInclude(one === undefined ? {} : Result.getOrThrow(one.result), { count: 2 });
      assert.strictEqual(outcome(games[2] as (typeof games)[number])[1], "INVALID_PARAMETER");
    }).pipe(Effect.provide(world)),
  );

  it.effect("resolves the profiles of found links", () =>
    Effect.gen(function* () {
      const scope = yield* linked;
      const bulk = yield* BulkLookup;
      const [item] = yield* bulk.byGames(scope, ["1"], { guildId: null, resolved: true });
      const { resolved } = Result.getOrThrow((item as BulkItem<never>).result) as {
        resolved: { game: { username: string }; chat: ReadonlyArray<{ id: string }> };
      };
      assert.strictEqual(resolved.game.username, "game 1");
      assert.sameMembers(
        resolved.chat.map(({ id }) => id),
        ["10001", "10002"],
      );
    }).pipe(Effect.provide(world)),
  );

  it.effect("accepts up to fifty inputs, or none", () =>
    Effect.gen(function* () {
      const scope = yield* linked;
      const bulk = yield* BulkLookup;
      const many = Array.from({ length: 51 }, () => "10001");
      assert.strictEqual((yield* bulk.byChats(scope, many.slice(1), plain)).length, 50);
      const tooMany = yield* Effect.flip(bulk.byChats(scope, many, plain));
      assert.deepInclude(tooMany, { code: "BULK_LIMIT_EXCEEDED", limit: 50, received: 51 });
      assert.deepStrictEqual(yield* bulk.byGames(scope, [], plain), []);
    }).pipe(Effect.provide(world)),
  );

  it.effect("fails only the items whose membership cannot be checked", () =>
    Effect.gen(function* () {
      const scope = yield* linked;
      const bulk = yield* BulkLookup;
      const items = yield* bulk.byChats(scope, ["10001", "10002"], { guildId, resolved: false });
      assert.deepStrictEqual(
        items.map((item) => outcome(item)[1]),
        [lookupOf("10001", "1"), "INTERNAL_ERROR"],
      );
      const [game] = yield* bulk.byGames(scope, ["1"], { guildId, resolved: false });
      assert.strictEqual(outcome(game as NonNullable<typeof game>)[1], "INTERNAL_ERROR");
    }).pipe(Effect.provide(partlyDown)),
  );
});

/** A chat platform that does not answer for user 10002. */
const flaky = Layer.effect(
  ChatPlatform,
  Effect.map(ChatPlatform, (chat) =>
    ChatPlatform.of({
      ...chat,
      findMember: (guild, id) =>
        id === "10002"
          ? Effect.fail(new PlatformUnavailable({ operation: "ChatPlatform.findMember" }))
          : chat.findMember(guild, id),
    }),
  ),
);

const partlyDown = Layer.fresh(
  AccountLink.layer.pipe(
    Layer.provideMerge(flaky),
    Layer.provideMerge(Layer.merge(stores, PlatformMemory.layer(platform))),
  ),
);

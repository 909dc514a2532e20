import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { AuditLog } from "../audit/audit_log.ts";
import { botlessGuildId, chatId, gameId, guildId, operator, scopes, world } from "../test_world.ts";
import { LinkLookup } from "./link_lookup.ts";
import { LinkWriter } from "./link_writer.ts";

const setup = Effect.gen(function* () {
  const { global, guild } = yield* scopes;
  const writer = yield* LinkWriter;
  const lookup = yield* LinkLookup;
  const target = { scope: global, guildId: null, origin: operator };
  const set = (chat: string, game: string) =>
    writer.setGame(target, { chatId: chatId(chat), gameId: gameId(game) });
  const statusOf = (chat: string) =>
    lookup.verification(global, chatId(chat), { guildId: null, resolved: false });
  return { writer, target, guildTarget: { scope: guild, guildId, origin: operator }, set, statusOf };
});

describe("LinkWriter.setGame", () => {
  it.effect("returns the game that it replaced", () =>
    Effect.gen(function* () {
      const { set } = yield* setup;
      const written = [yield* set("10001", "1"), yield* set("10001", "2"), yield* set("10001", "2")];
      assert.deepStrictEqual(
        written.map(({ previousGameId, updated }) => [previousGameId, updated]),
        [
          [null, true],
          [gameId("1"), true],
          [gameId("2"), false],
        ],
      );
    }).pipe(Effect.provide(world)),
  );

  it.effect("counts changes as versions, and updates the time of confirmations", () =>
    Effect.gen(function* () {
      const { set, statusOf, writer, target } = yield* setup;
      yield* set("10001", "1");
      yield* TestClock.adjust("1 second");
      yield* set("10001", "1");
      assert.deepInclude(yield* statusOf("10001"), { linkVersion: 1, lastVerifiedAt: 1_000 });
      yield* set("10001", "2");
      yield* writer.removeGame(target, chatId("10001"), { requireMember: false });
      yield* set("10001", "2");
      assert.deepInclude(yield* statusOf("10001"), { linkVersion: 4 });
    }).pipe(Effect.provide(world)),
  );

  it.effect("refuses a game user that does not exist, and a chat user outside the guild", () =>
    Effect.gen(function* () {
      const { set, writer, guildTarget } = yield* setup;
      assert.deepInclude(yield* Effect.flip(set("10001", "99")), { _tag: "InvalidParameter" });
      const outside = writer.setGame(guildTarget, { chatId: chatId("10020"), gameId: gameId("1") });
      assert.deepInclude(yield* Effect.flip(outside), { _tag: "Forbidden", reason: "user_not_in_guild" });
    }).pipe(Effect.provide(world)),
  );

  it.effect("returns the value that it replaced to each concurrent writer", () =>
    Effect.gen(function* () {
      const { set } = yield* setup;
      const games = Array.from({ length: 9 }, (_, index) => String(index + 1));
      const written = yield* Effect.forEach(games, (game) => set("10001", game), {
        concurrency: "unbounded",
      });
      const replaced = written.map(({ previousGameId }) => previousGameId);
      assert.strictEqual(new Set(replaced).size, games.length);
    }).pipe(Effect.provide(world)),
  );
});

describe("LinkWriter.moveChat", () => {
  const move = (from: string, to: string) => ({ oldChatId: chatId(from), newChatId: chatId(to) });

  it.effect("moves the link, and keeps the old record without one", () =>
    Effect.gen(function* () {
      const { set, statusOf, writer, target } = yield* setup;
      yield* set("10001", "1");
      assert.deepStrictEqual(yield* writer.moveChat(target, move("10001", "10002")), {
        previousChatId: chatId("10001"),
        chatId: chatId("10002"),
        gameId: gameId("1"),
        updated: true,
      });
      assert.isFalse((yield* statusOf("10001")).linked);
      yield* set("10001", "2");
      assert.deepInclude(yield* statusOf("10001"), { linkVersion: 3 });
    }).pipe(Effect.provide(world)),
  );

  it.effect("checks the old user first", () =>
    Effect.gen(function* () {
      const { set, writer, target } = yield* setup;
      yield* set("10002", "1");
      const attempts = [move("10001", "10002"), move("10001", "10001"), move("10003", "10002")];
      for (const attempt of attempts) {
        assert.strictEqual((yield* Effect.flip(writer.moveChat(target, attempt)))._tag, "LinkNotFound");
      }
      yield* set("10003", "2");
      assert.strictEqual(
        (yield* Effect.flip(writer.moveChat(target, move("10003", "10002"))))._tag,
        "Conflict",
      );
      assert.isFalse((yield* writer.moveChat(target, move("10003", "10003"))).updated);
    }).pipe(Effect.provide(world)),
  );

  it.effect("requires membership of the new user only", () =>
    Effect.gen(function* () {
      const { writer, guildTarget } = yield* setup;
      const outside = yield* Effect.flip(writer.moveChat(guildTarget, move("10001", "10020")));
      assert.deepInclude(outside, { _tag: "Forbidden", reason: "new_user_not_in_guild" });
      const unlinked = yield* Effect.flip(writer.moveChat(guildTarget, move("10020", "10001")));
      assert.strictEqual(unlinked._tag, "LinkNotFound");
    }).pipe(Effect.provide(world)),
  );
});

describe("LinkWriter.removeGame", () => {
  it.effect("returns the removed link once", () =>
    Effect.gen(function* () {
      const { set, writer, target } = yield* setup;
      yield* set("10001", "1");
      const remove = writer.removeGame(target, chatId("10001"), { requireMember: true });
      assert.deepInclude(yield* remove, { removedGameId: gameId("1"), deleted: true });
      assert.strictEqual((yield* Effect.flip(remove))._tag, "LinkNotFound");
    }).pipe(Effect.provide(world)),
  );

  it.effect("requires membership if requested", () =>
    Effect.gen(function* () {
      const { writer, guildTarget } = yield* setup;
      const remove = (requireMember: boolean) =>
        Effect.flip(writer.removeGame(guildTarget, chatId("10020"), { requireMember }));
      assert.strictEqual((yield* remove(true))._tag, "Forbidden");
      assert.strictEqual((yield* remove(false))._tag, "LinkNotFound");
    }).pipe(Effect.provide(world)),
  );
});

describe("LinkWriter.deleteScope", () => {
  it.effect("deletes the records of its scope only", () =>
    Effect.gen(function* () {
      const { set, statusOf, writer, target, guildTarget } = yield* setup;
      yield* set("10001", "1");
      yield* set("10002", "1");
      yield* writer.removeGame(target, chatId("10002"), { requireMember: false });
      yield* writer.setGame(guildTarget, { chatId: chatId("10001"), gameId: gameId("1") });
      assert.strictEqual(yield* writer.deleteScope({ ...guildTarget, guildId: null }), 1);
      assert.isTrue((yield* statusOf("10001")).linked);
      assert.strictEqual(yield* writer.deleteScope(target), 2);
      assert.isFalse((yield* statusOf("10001")).linked);
    }).pipe(Effect.provide(world)),
  );

  it.effect("checks the guild", () =>
    Effect.gen(function* () {
      const { writer, guildTarget } = yield* setup;
      const elsewhere = writer.deleteScope({ ...guildTarget, guildId: botlessGuildId });
      assert.deepInclude(yield* Effect.flip(elsewhere), { _tag: "Forbidden", reason: "wrong_guild" });
    }).pipe(Effect.provide(world)),
  );
});

describe("the audit log", () => {
  it.effect("has every write with its actor", () =>
    Effect.gen(function* () {
      const { set, writer, target } = yield* setup;
      const log = yield* AuditLog;
      yield* set("10001", "1");
      yield* writer.moveChat(target, { oldChatId: chatId("10001"), newChatId: chatId("10002") });
      yield* writer.removeGame(target, chatId("10002"), { requireMember: false });
      yield* writer.deleteScope(target);
      const entries = yield* log.list("acme", null, 10);
      assert.deepStrictEqual(
        entries.map(({ action }) => action),
        ["scope.deleted", "link.removed", "link.moved", "link.set"],
      );
      for (const entry of entries) {
        assert.deepInclude(entry, { actor: operator.actor, account: "acme", pid: target.scope.pid });
      }
    }).pipe(Effect.provide(world)),
  );
});

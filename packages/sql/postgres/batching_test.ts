import { ChatId, GameId, KeyId, LinkStore, Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { makeKey } from "@accountlink/testing";
import { describe, expect, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Layer, Option, Schedule } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { vi } from "vitest";
import { migrate } from "../migrations.ts";
import { DatabaseClock } from "../statements/direct_writes.ts";
import { layer as stores } from "../stores.ts";
import { Database, onDatabase } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const pid = Pid.make("pid_0123456789abcdef");
const origin = { actor: { type: "operator", id: "test" }, requestId: null, pid, at: 1 } as const;
const atOnce = { concurrency: "unbounded" } as const;

const keyOf = (id: string) =>
  makeKey({ kind: "global", pid, account: "acme" }, { id: KeyId.make(id), createdAt: 1 });

/** Makes the stores of a node, and calls `onExecute` with the SQL text of each lookup. */
const storesObserved = (onExecute: (text: string) => void) => {
  const connection = Effect.map(
    SqlConnection.Connection,
    (shared) =>
      new Proxy(shared, {
        get: (target, name) => {
          if (name !== "execute" && name !== "executeValues") return Reflect.get(target, name);
          return (text: string, params: ReadonlyArray<unknown>) => {
            if (text.trimStart().startsWith("SELECT")) onExecute(text);
            return target[name](text, params, undefined);
          };
        },
      }),
  );
  return Layer.provide(stores, Layer.effect(SqlConnection.Connection, connection));
};

describe.skipIf(missing !== null)(`concurrent lookups ${missing ?? "on Postgres"}`, () => {
  it.live(
    "concurrent lookups share a statement, but the first one runs alone if the previous lookups were not concurrent",
    () => {
      const statements: Array<string> = [];
      return Effect.gen(function* () {
        yield* migrate;
        yield* Effect.gen(function* () {
          const [keys, links] = [yield* KeyStore, yield* LinkStore];
          yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
          yield* keys.ensureScope("acme", { kind: "global" }, pid);
          const [ada, bob] = [keyOf("Aa0Bb1Cc2Dd3"), keyOf("Ee4Ff5Gg6Hh7")];
          yield* keys.insertKey({ ...origin, key: ada, hash: "of ada", maxKeys: null });
          yield* keys.insertKey({ ...origin, key: bob, hash: "of bob", maxKeys: null });
          yield* keys.rotateKey({ ...origin, id: bob.id, hash: "of bob, new", previousUntil: 9 });
          const chatId = ChatId.make("10001");
          yield* links.setGame({ ...origin, chatId, gameId: GameId.make("42") });
          expect(statements).toEqual([]);

          yield* keys.findByHash("of nobody");
          yield* keys.findByHash("of ada");
          expect(statements.splice(0)).toHaveLength(2);

          const hashes = ["of bob", "of nobody", "of ada", "of bob, new", "of ada"];
          expect(yield* Effect.forEach(hashes, keys.findByHash, atOnce)).toEqual([
            Option.some({ key: bob, endsAt: 9 }),
            Option.none(),
            Option.some({ key: ada, endsAt: null }),
            Option.some({ key: bob, endsAt: null }),
            Option.some({ key: ada, endsAt: null }),
          ]);
          expect(statements.splice(0)).toHaveLength(2);
          yield* Effect.forEach(hashes, keys.findByHash, atOnce);
          expect(statements.splice(0)).toHaveLength(1);

          const chatIds = [chatId, ChatId.make("10002"), chatId];
          const found = yield* Effect.forEach(chatIds, (id) => links.findByChatId(pid, id), atOnce);
          expect(found.map(Option.map(({ gameId }) => gameId))).toEqual([
            Option.some("42"),
            Option.none(),
            Option.some("42"),
          ]);
          expect(statements.splice(0)).toHaveLength(2);

          const bulks = [[chatId], [ChatId.make("10002")], [ChatId.make("10002"), chatId]];
          const linked = yield* Effect.forEach(bulks, (bulk) => links.findGamesByChatIds(pid, bulk), atOnce);
          expect(linked.map((games) => [...games])).toEqual([[[chatId, "42"]], [], [[chatId, "42"]]]);
          expect(statements.splice(0)).toHaveLength(1);

          const [first, second, nobodys] = [GameId.make("42"), GameId.make("43"), GameId.make("44")];
          const later = ChatId.make("10000");
          yield* links.setGame({ ...origin, chatId: ChatId.make("10003"), gameId: second });
          yield* links.setGame({ ...origin, at: 2, chatId: later, gameId: first });
          const games = yield* Effect.forEach(
            [second, nobodys, first, second],
            (gameId) => links.findByGameIds(pid, [gameId]),
            atOnce,
          );
          expect(games.map((chats) => [...chats])).toEqual([
            [[second, ["10003"]]],
            [],
            [[first, [later, chatId]]],
            [[second, ["10003"]]],
          ]);
          expect(statements.splice(0)).toHaveLength(2);
        }).pipe(Effect.provide(storesObserved((text) => statements.push(text))));
      }).pipe(onDatabase);
    },
  );

  it.live(
    "writes of one scope share a transaction, each gets its answer, and writes of one chat user keep their order",
    () =>
      Effect.gen(function* () {
        yield* migrate;
        const [keys, links] = yield* Effect.provide(Effect.all([KeyStore, LinkStore]), stores);
        yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
        yield* keys.ensureScope("acme", { kind: "global" }, pid);
        const setAll = (writes: ReadonlyArray<readonly [chatId: string, gameId: string]>) =>
          Effect.forEach(
            writes,
            ([chatId, gameId], i) =>
              links.setGame({
                ...origin,
                requestId: `${i}`,
                chatId: ChatId.make(chatId),
                gameId: GameId.make(gameId),
              }),
            atOnce,
          );
        // After two concurrent writes, the store does not use the fast path for a single write. So the writes below
        // share a transaction.
        yield* setAll([
          ["10004", "7"],
          ["10005", "7"],
        ]);
        const { query } = yield* Database;
        yield* query("DELETE FROM links; DELETE FROM audit_log");
        const answers = yield* setAll([
          ["10003", "7"],
          ["10001", "8"],
          ["10003", "9"],
          ["10002", "8"],
          ["10003", "9"],
        ]);
        expect(answers.map(({ record, previousGameId }) => [record.linkVersion, previousGameId])).toEqual([
          [1, null],
          [1, null],
          [2, "7"],
          [1, null],
          [2, "9"],
        ]);

        expect(yield* query("SELECT request_id FROM audit_log ORDER BY sequence")).toEqual([
          { request_id: "1" },
          { request_id: "3" },
          { request_id: "0" },
          { request_id: "2" },
        ]);
        expect(yield* query("SELECT count(DISTINCT xmin::text)::int AS transactions FROM links")).toEqual([
          { transactions: 1 },
        ]);
      }).pipe(onDatabase),
  );

  it.live("a write whose statement reaches the database too late is stored by a transaction instead", () =>
    Effect.gen(function* () {
      yield* migrate;
      const [keys, links] = yield* Effect.provide(Effect.all([KeyStore, LinkStore]), stores);
      yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
      yield* keys.ensureScope("acme", { kind: "global" }, pid);
      const set = (gameId: string) =>
        links.setGame({ ...origin, chatId: ChatId.make("10001"), gameId: GameId.make(gameId) });
      const { query } = yield* Database;
      const late = vi.spyOn(DatabaseClock.prototype, "timeIn").mockReturnValue(1);
      yield* Effect.addFinalizer(() => Effect.sync(() => late.mockRestore()));
      yield* set("7");
      const { record, previousGameId } = yield* set("8");
      expect([record.gameId, record.linkVersion, previousGameId]).toEqual(["8", 2, "7"]);
      expect(late).toHaveBeenCalledTimes(2);
      expect(
        yield* query("SELECT data::json ->> 'previousGameId' AS game FROM events ORDER BY sequence"),
      ).toEqual([{ game: null }, { game: "7" }]);
    }).pipe(Effect.scoped, onDatabase),
  );

  it.live("a statement stores all its writes even if it waits past its deadline for a locked row", () =>
    Effect.gen(function* () {
      yield* migrate;
      const [keys, links] = yield* Effect.provide(Effect.all([KeyStore, LinkStore]), stores);
      yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
      yield* keys.ensureScope("acme", { kind: "global" }, pid);
      const setBoth = (gameId: string) =>
        Effect.forEach(
          ["10001", "10002"],
          (chatId) => links.setGame({ ...origin, chatId: ChatId.make(chatId), gameId: GameId.make(gameId) }),
          atOnce,
        );
      yield* setBoth("7");
      const sql = yield* SqlClient.SqlClient;
      const { query } = yield* Database;
      const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'transactionid'`;
      const until = (text: string) =>
        query(text).pipe(
          Effect.repeat({ until: ([row]) => row?.["count"] === 1, schedule: Schedule.spaced("10 millis") }),
        );
      const deadline = Date.now() + 500;
      const clock = vi.spyOn(DatabaseClock.prototype, "timeIn").mockReturnValue(deadline);
      yield* Effect.addFinalizer(() => Effect.sync(() => clock.mockRestore()));
      const [held, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()];
      yield* sql`SELECT 1 FROM links WHERE chat_id = '10001' FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(held, undefined)),
        Effect.andThen(Deferred.await(release)),
        sql.withTransaction,
        Effect.forkChild,
      );
      yield* Deferred.await(held);
      const set = yield* Effect.forkChild(setBoth("8"));
      yield* until(waiting);
      yield* until(`SELECT (extract(epoch FROM clock_timestamp()) * 1000 > ${deadline})::int AS count`);
      yield* Deferred.succeed(release, undefined);
      expect((yield* Fiber.join(set)).map(({ previousGameId }) => previousGameId)).toEqual(["7", "7"]);
    }).pipe(Effect.scoped, onDatabase),
  );
});

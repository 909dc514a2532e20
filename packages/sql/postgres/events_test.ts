/** Tests the feed on Postgres, where transactions commit in any order. */
import { ChatId, EventStore, GameId, LinkStore } from "@accountlink/core";
import { makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, testLive as test } from "@accountlink/test-servers/effect";
import { PgConnection } from "@effect/sql-pg";
import { Effect, Layer, Option, Redacted } from "effect";
import { scope, storeScope } from "../test_scope.ts";
import * as StoragePostgres from "./mod.ts";

const missing = await whyNoPostgresDatabase();

const { pid } = scope;
const write = { actor: { type: "operator", id: "ada" }, requestId: null, pid, at: 1 } as const;
const [ada, bob] = [ChatId.make("100001"), ChatId.make("100002")];
const [chess, poker] = [GameId.make("1"), GameId.make("2")];

/** Starts two nodes on one database. Also opens a separate connection, which can keep a transaction open. */
const makeNodes = Effect.gen(function* () {
  const { url } = yield* makePostgresDatabase();
  const node = Layer.build(Layer.fresh(StoragePostgres.layerPostgres({ url: Redacted.make(url) })));
  const [one, other] = [yield* node, yield* node];
  const database = yield* PgConnection.make({ url: Redacted.make(url) });
  const ask = (text: string) => database.query(text);
  yield* Effect.provideContext(storeScope, one);
  const set = (chatId: ChatId, gameId: GameId) =>
    LinkStore.use((links) => links.setGame({ ...write, chatId, gameId }));
  const read = (after: number) =>
    Effect.map(
      EventStore.use((store) => store.read(pid, after, 100)),
      Option.getOrThrow,
    );
  return { one, other, ask, set, read };
});

const insert = (id: string) => `
  INSERT INTO journal (place, event_id, at, action, details, fields)
  VALUES ('${pid}', '${id}', 1, 'user.erased', '{}', '{"chatId":"100009"}')`;

describe.skipIf(missing !== null)(`the feed on Postgres ${missing ?? ""}`, () => {
  test("the feed shows committed events first, and the events of a slower transaction later", function* () {
    const { one, other, ask, set, read } = yield* makeNodes;
    yield* ask("BEGIN");
    yield* ask(insert("evt_slow"));
    yield* Effect.provideContext(set(ada, chess), one);
    const [first, ...rest] = yield* Effect.provideContext(read(0), other);
    expect([first?.type, rest]).toEqual(["link.set", []]);

    yield* ask("COMMIT");
    yield* Effect.provideContext(set(bob, chess), one);
    const later = yield* Effect.provideContext(read(first?.position ?? 0), one);
    expect(later.map(({ id, type }) => (id === "evt_slow" ? id : type))).toEqual(["evt_slow", "link.set"]);
    const all = yield* Effect.provideContext(read(0), other);
    expect(all.slice(1)).toEqual(later);
  });

  test("an open transaction of this or another database does not delay the feed", function* () {
    const { one, other, ask, set, read } = yield* makeNodes;
    yield* ask("BEGIN ISOLATION LEVEL REPEATABLE READ");
    yield* ask("SELECT pg_current_xact_id()::text");
    let after = 0;
    for (const gameId of [chess, poker, chess]) {
      yield* Effect.provideContext(set(ada, gameId), one);
      const [event, ...rest] = yield* Effect.provideContext(read(after), other);
      expect([event?.data, rest]).toMatchObject([{ gameId }, []]);
      after = event?.position ?? after;
    }
    yield* ask("ROLLBACK");
  });

  test("all nodes read the feed in one order, even when they number its events concurrently", function* () {
    const { one, other, set, read } = yield* makeNodes;
    const users = Array.from({ length: 20 }, (_, i) => ChatId.make(String(200_001 + i)));
    for (let round = 0; round < 5; round++) {
      const writes = users.map((chatId, i) =>
        Effect.provideContext(set(chatId, round % 2 === 0 ? chess : poker), i % 2 === 0 ? one : other),
      );
      const reads = [one, other, one, other].map((node) => Effect.provideContext(read(0), node));
      const [, pages] = yield* Effect.all(
        [Effect.all(writes, { concurrency: "unbounded" }), Effect.all(reads, { concurrency: "unbounded" })],
        { concurrency: 2 },
      );
      const all = yield* Effect.provideContext(read(0), one);
      // Every page is a prefix of the final feed.
      for (const page of pages) expect(all.slice(0, page.length)).toEqual(page);
    }
    const all = yield* Effect.provideContext(read(0), other);
    expect(all.length).toBe(Math.min(100, users.length * 5));
  });
});

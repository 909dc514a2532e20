import { ChatId, GameId, GuildId, KeyId, LinkStore, Pid, Signals } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Profiles } from "@accountlink/core/platforms";
import { SessionWatch } from "@accountlink/core/sessions";
import { linksOfPage, OwnLinks } from "@accountlink/core/users";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect } from "@accountlink/test-servers/effect";
import { makeKey } from "@accountlink/testing";
import { Effect, Layer, Option, Queue, Tracer } from "effect";
import { migrate } from "../migrations.ts";
import { layer as stores } from "../stores.ts";
import { storesObserved } from "../test_observed.ts";
import { storeScope } from "../test_scope.ts";
import { origin, scope, testOnDatabase } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const { pid } = scope;
const write = { ...origin, pid, at: 1 };
const atOnce = { concurrency: "unbounded" } as const;

const keyOf = (id: string) => makeKey(scope, { id: KeyId.make(id), createdAt: 1 });

describe.skipIf(missing !== null)(`concurrent lookups ${missing ?? "on Postgres"}`, () => {
  testOnDatabase()("concurrent lookups share a statement", function* () {
    const statements: Array<string> = [];
    const observed = storesObserved((text) => {
      if (text.trimStart().startsWith("SELECT")) statements.push(text);
    });
    yield* migrate;
    yield* Effect.gen(function* () {
      const [keys, links] = [yield* KeyStore, yield* LinkStore];
      yield* storeScope;
      const [ada, bob] = [keyOf("Aa0Bb1Cc2Dd3"), keyOf("Ee4Ff5Gg6Hh7")];
      yield* keys.insertKey({ ...write, key: ada, hash: "of ada", maxKeys: null });
      yield* keys.insertKey({ ...write, key: bob, hash: "of bob", maxKeys: null });
      yield* keys.rotateKey({ ...write, id: bob.id, hash: "of bob, new", previousUntil: 9 });
      const chatId = ChatId.make("10001");
      yield* links.setGame({ ...write, chatId, gameId: GameId.make("42") });
      expect(statements).toEqual([]);

      yield* keys.findByHash("of nobody");
      yield* keys.findByHash("of ada");
      expect(statements.splice(0)).toHaveLength(2);

      const hashes = ["of bob", "of nobody", "of ada", "of bob, new", "of ada"];
      expect(yield* Effect.forEach(hashes, (hash) => keys.findByHash(hash), atOnce)).toEqual([
        Option.some({ key: bob, endsAt: 9 }),
        Option.none(),
        Option.some({ key: ada, endsAt: null }),
        Option.some({ key: bob, endsAt: null }),
        Option.some({ key: ada, endsAt: null }),
      ]);
      expect(statements.splice(0)).toHaveLength(1);

      const chatIds = [chatId, ChatId.make("10002"), chatId];
      const found = yield* Effect.forEach(chatIds, (id) => links.findByChatId(pid, id), atOnce);
      expect(found.map(Option.map(({ gameId }) => gameId))).toEqual([
        Option.some("42"),
        Option.none(),
        Option.some("42"),
      ]);
      expect(statements.splice(0)).toHaveLength(1);

      const bulks = [[chatId], [ChatId.make("10002")], [ChatId.make("10002"), chatId]];
      const linked = yield* Effect.forEach(bulks, (bulk) => links.findGamesByChatIds(pid, bulk), atOnce);
      expect(linked.map((games) => [...games])).toEqual([[[chatId, "42"]], [], [[chatId, "42"]]]);
      expect(statements.splice(0)).toHaveLength(1);

      const [first, second, nobodys] = [GameId.make("42"), GameId.make("43"), GameId.make("44")];
      const later = ChatId.make("10000");
      yield* links.setGame({ ...write, chatId: ChatId.make("10003"), gameId: second });
      yield* links.setGame({ ...write, at: 2, chatId: later, gameId: first });
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
      expect(statements.splice(0)).toHaveLength(1);
    }).pipe(Effect.provide(observed));
  });

  testOnDatabase()("a page of a user's links names the communities in a few statements", function* () {
    const statements: Array<string> = [];
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options);
        if (options.kind === "client") statements.push(span.name);
        return span;
      },
    });
    const user = ChatId.make("10001");
    yield* migrate;
    yield* Effect.gen(function* () {
      const [keys, links, own] = [yield* KeyStore, yield* LinkStore, yield* OwnLinks];
      for (let index = 0; index < linksOfPage; index++) {
        const [name, other] = [`account ${index}`, Pid.make(`pid_${String(index).padStart(16, "0")}`)];
        yield* keys.ensureAccount({ name, chatId: ChatId.make(`${20_000 + index}`), tier: "free" });
        const guildId = GuildId.make(`${30_000 + index}`);
        yield* keys.ensureScope(
          name,
          index % 2 === 0 ? { kind: "global" } : { kind: "guild", guildId },
          other,
        );
        yield* links.setGame({ ...write, pid: other, chatId: user, gameId: GameId.make("42") });
      }
      const shown = yield* Effect.withTracer(own.list(user, 0), tracer);
      expect(shown.links.map(({ asking }) => asking).toSorted()).toEqual(
        Array.from(shown.links, (_, index) => `account ${index}`).toSorted(),
      );
      expect(statements.length).toBeLessThan(10);
    }).pipe(
      Effect.provide(Layer.provideMerge(OwnLinks.layer, stores)),
      Effect.provide([
        Layer.mock(Profiles, {
          chat: () => Effect.succeed(null),
          game: () => Effect.succeed(null),
          // The platform answers one after the other.
          guild: (id) => {
            const index = Number(id) - 30_000;
            return Effect.as(Effect.sleep(index), { id, name: `account ${index}`, botMayManageRoles: false });
          },
        }),
        Layer.mock(SessionWatch, {}),
        Layer.mock(Signals, { subscribe: () => Queue.unbounded<string>() }),
      ]),
    );
  });
});

/**
 * A COMMIT that waits for a synchronous standby has no bound. It takes effect long after its fence is over, and no copy
 * may be there then.
 */
import { CacheRedis } from "@accountlink/cache-redis";
import { type Actor, CachedStores, ChatId, GameId, KeyStore, LinkStore, Pid } from "@accountlink/core";
import { StorageSql } from "@accountlink/storage-sql";
import {
  makePostgresDatabase,
  startPostgres,
  startRedis,
  whyNoPostgres,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Context, Effect, Layer, Logger, Option, Redacted, Schedule } from "effect";
import { expect, test } from "vitest";

const missing = (await whyNoRedis()) ?? (await whyNoPostgres());

const pid = Pid.make("pid_0000000000000001");
const chatId = ChatId.make("10001");
const origin = { actor: { type: "operator", id: "test" } satisfies Actor, requestId: null };
/** Short, since a fence stands for as long as a write may take. */
const timeouts = { connectTimeout: "1 second", statementTimeout: "500 millis" } as const;

/** A node, and how often it has looked a chat user up in Postgres. */
const openNode = Effect.fnUntraced(function* (database: string, redis: string) {
  const storage = StorageSql.layerPostgres({ url: Redacted.make(database), ...timeouts });
  const stores = yield* Layer.build(Layer.fresh(storage));
  const links = Context.get(stores, LinkStore);
  const count = { lookUps: 0 };
  const findByChatId: typeof links.findByChatId = (...asked) =>
    Effect.suspend(() => {
      count.lookUps++;
      return links.findByChatId(...asked);
    });
  const cached = CachedStores.layer.pipe(
    Layer.provide(Layer.succeedContext(Context.add(stores, LinkStore, { ...links, findByChatId }))),
    Layer.provide(CacheRedis.layer({ url: Redacted.make(redis) })),
    Layer.provide(Logger.layer([])),
  );
  return {
    links: Context.get(yield* Layer.build(Layer.fresh(cached)), LinkStore),
    keys: Context.get(stores, KeyStore),
    count,
  };
});

type Node = Effect.Success<ReturnType<typeof openNode>>;

const until = <E>(condition: Effect.Effect<boolean, E>) =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("20 millis") });

const write = ({ links }: Node, gameId: string) =>
  links.setGame({ ...origin, pid, at: 0, chatId, gameId: GameId.make(gameId) });

const readOne = ({ links }: Node) =>
  Effect.map(Effect.map(links.findByChatId(pid, chatId), Option.getOrThrow), (record) => record.linkVersion);

const readMany = ({ links }: Node) =>
  Effect.map(links.findByChatIds(pid, [chatId]), (records) => records.get(chatId)?.linkVersion);

/** Whether the last of three look-ups finds a copy. */
const findsCopy = (node: Node) =>
  Effect.gen(function* () {
    yield* readOne(node);
    yield* readOne(node);
    const before = node.count.lookUps;
    yield* readOne(node);
    return node.count.lookUps === before;
  });

test.skipIf(missing !== null)(
  `a commit that takes effect after its fence is over finds no copies ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const server = yield* startPostgres();
      const { url, query } = yield* makePostgresDatabase(server);
      const redis = yield* startRedis();
      const [writer, reader] = [yield* openNode(url, redis.url), yield* openNode(url, redis.url)];
      yield* writer.keys.ensureAccount({ name: "account", chatId: null, tier: "free" });
      yield* writer.keys.ensureScope("account", { kind: "global" }, pid);
      yield* write(writer, "1");
      yield* until(findsCopy(reader));

      const setStandby = (change: string) =>
        Effect.andThen(query(`ALTER SYSTEM ${change}`), query("SELECT pg_reload_conf()"));
      const waiting = "wait_event = 'SyncRep' AND query = 'COMMIT'";
      const isWaiting = Effect.map(
        query(`SELECT 1 FROM pg_stat_activity WHERE ${waiting}`),
        (rows) => rows.length === 1,
      );
      const findStandby = setStandby("RESET synchronous_standby_names");
      yield* Effect.addFinalizer(() => findStandby);
      yield* setStandby("SET synchronous_standby_names = 'away'");
      // Some may be answered before the server has noticed.
      yield* until(Effect.andThen(Effect.exit(write(writer, "2")), isWaiting));
      const version = (yield* readMany(reader)) as number;

      yield* until(Effect.map(redis.ask("KEYS", "*:link-fences:*"), (reply) => reply.startsWith("*0")));
      const copies: Array<boolean> = [];
      for (let i = 0; i < 100; i++) copies.push(yield* Effect.delay(findsCopy(reader), "10 millis"));
      expect(yield* isWaiting).toBe(true);
      yield* findStandby;
      yield* until(Effect.map(readMany(reader), (found) => found === version + 1));
      expect(yield* readOne(reader)).toBe(version + 1);
      expect(copies).not.toContain(true);
      yield* until(findsCopy(reader));
    }).pipe(Effect.scoped, Effect.runPromise),
);

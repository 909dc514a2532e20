/**
 * Links on a real Postgres and Redis, read and written over three nodes, while Redis is lost to all of them or to one:
 * nobody ever sees less than was seen before.
 */
import { CacheRedis } from "@accountlink/cache-redis";
import {
  type Actor,
  CachedStores,
  ChatId,
  GameId,
  KeyStore,
  LinkStore,
  Pid,
  type StoreUnavailable,
} from "@accountlink/core";
import { StorageSql } from "@accountlink/storage-sql";
import {
  makePostgresDatabase,
  startProxy,
  startRedis,
  whyNoPostgresDatabase,
  whyNoRedis,
} from "@accountlink/test-servers";
import { Context, Effect, Layer, Logger, Option, Redacted, Schedule } from "effect";
import { describe, expect, it } from "vitest";

const missing = (await whyNoRedis()) ?? (await whyNoPostgresDatabase());

const pid = Pid.make("pid_0000000000000001");
const chatIds = ["10001", "10002"].map((id) => ChatId.make(id));
const origin = { actor: { type: "operator", id: "test" } satisfies Actor, requestId: null };
/** Short, since a new run of Redis waits for as long as a write may take. */
const timeouts = { connectTimeout: "500 millis", statementTimeout: "250 millis" } as const;

interface Node {
  readonly links: LinkStore["Service"];
  readonly begin: CachedStores.BeginLookup;
}

const openNode = (database: string, redis: string) => {
  const cache = CacheRedis.layer({ url: Redacted.make(redis), commandTimeout: "200 millis" });
  const storage = StorageSql.layerPostgres({ url: Redacted.make(database), maxConnections: 4, ...timeouts });
  const stores = CachedStores.layer.pipe(Layer.provideMerge(storage), Layer.provide(cache));
  return Effect.map(Layer.build(Layer.fresh(stores).pipe(Layer.provide(Logger.layer([])))), (built) => ({
    built,
    links: Context.get(built, LinkStore),
    begin: Context.get(built, CachedStores.LookAhead) as CachedStores.BeginLookup,
  }));
};

/** What clients saw. */
class History {
  readonly problems: Array<string> = [];
  writes = 0;
  refusals = 0;
  readonly #seen = new Map<ChatId, number>();

  floor(chatId: ChatId): number {
    return this.#seen.get(chatId) ?? 0;
  }

  saw(chatId: ChatId, version: number): void {
    this.#seen.set(chatId, Math.max(version, this.floor(chatId)));
  }
}

const reader = (node: Node, history: History, client: number) => {
  let turn = client;
  return Effect.gen(function* () {
    const chatId = chatIds[turn++ % chatIds.length] as ChatId;
    const floor = history.floor(chatId);
    const found = yield* node.links.findByChatId(pid, chatId);
    const version = Option.match(found, { onNone: () => 0, onSome: ({ linkVersion }) => linkVersion });
    if (version < floor) history.problems.push(`${chatId}: read ${version} after ${floor} was seen`);
    history.saw(chatId, version);
  }).pipe(counted(history), Effect.delay("1 millis"), Effect.forever);
};

const writer = (node: Node, history: History, client: number) => {
  let turn = client;
  return Effect.gen(function* () {
    const chatId = chatIds[turn++ % chatIds.length] as ChatId;
    const gameId = GameId.make(`${turn}${client}`);
    const { record } = yield* node.links.setGame({ ...origin, pid, at: turn, chatId, gameId });
    history.writes++;
    history.saw(chatId, record.linkVersion);
  }).pipe(counted(history), Effect.delay("50 millis"), Effect.forever);
};

const counted = (history: History) =>
  Effect.catch((_: StoreUnavailable) =>
    Effect.sync(() => {
      history.refusals++;
    }),
  );

describe.skipIf(missing !== null)(`cached links ${missing ?? "on Postgres and Redis"}`, () => {
  it("are never older than what was seen, whoever loses Redis, and are cached again", async () => {
    const history = new History();
    const program = Effect.gen(function* () {
      const database = yield* makePostgresDatabase();
      const redis = yield* startRedis();
      const proxy = yield* startProxy(redis.port);
      const urls = [redis.url, redis.url, `redis://127.0.0.1:${proxy.port}`];
      const nodes = yield* Effect.forEach(urls, (url) => openNode(database.url, url));
      const keys = Context.get((nodes[0] as (typeof nodes)[0]).built, KeyStore);
      yield* keys.ensureAccount({ name: "account", chatId: null, tier: "free" });
      yield* keys.ensureScope("account", { kind: "global" }, pid);
      for (const [client, node] of nodes.entries()) {
        yield* Effect.forkScoped(reader(node, history, client));
        yield* Effect.forkScoped(reader(node, history, client + 1));
        yield* Effect.forkScoped(writer(node, history, client));
      }

      const hits = hitsOf(redis.ask);
      yield* hits;
      yield* redis.kill;
      yield* moreWrites(history);
      yield* redis.restart;
      yield* hits;
      yield* proxy.silence;
      yield* moreWrites(history);
      yield* proxy.cut;
      yield* moreWrites(history);
      yield* proxy.restore;
      yield* hits;
    });
    await Effect.runPromise(Effect.scoped(program));
    expect(history.problems).toEqual([]);
  });
});

/** Waits until nodes find copies in Redis: a token that was left there is an entry as well, so more than one of two. */
const hitsOf = (ask: (...words: ReadonlyArray<string>) => Effect.Effect<string>) =>
  Effect.repeat(
    Effect.map(ask("EVAL", copies, "0"), (reply) => reply.startsWith(":1")),
    { until: (found) => found, schedule: Schedule.spaced("5 millis") },
  );

const copies = `for _, key in ipairs(redis.call('KEYS', 'accountlink:link:*')) do
  if string.sub(redis.call('GET', key), 1, 1) == 'v' then return 1 end
end
return 0`;

const moreWrites = (history: History) =>
  Effect.suspend(() => {
    const enough = history.writes + 30;
    return Effect.repeat(
      Effect.sync(() => history.writes >= enough),
      { until: (written) => written, schedule: Schedule.spaced("10 millis") },
    );
  });

import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { Cache, Counters, type StoreUnavailable } from "@accountlink/core";
import {
  makeCertificate,
  makeCertificateFor,
  startRedis,
  whyNoCertificate,
  whyNoRedis,
} from "@accountlink/test-servers";
import { assert, describe, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Duration, Effect, Exit, Layer, Logger, Option, Redacted, type Scope } from "effect";
import * as CacheRedis from "../cache_redis.ts";
import * as StorageRedis from "../storage/storage_redis.ts";
import { openClient, openNode, outages, until } from "../test_redis.ts";
import { RedisFailure } from "./failure.ts";

const missing = await whyNoRedis();
const noCertificate = missing ?? (await whyNoCertificate());
const rules = [{ key: "second:a", limit: 1_000_000, durationMs: 1_000 }];

const useAll = (ports: Context.Context<Cache | Counters>) =>
  Effect.andThen(Context.get(ports, Counters).admit(rules, 0), Context.get(ports, Cache).get("key", 0));

const connectionsOf = (url: string) =>
  Effect.map(openClient(url), (client) =>
    Effect.map(
      Effect.promise(() => client.client("LIST")),
      (list): ReadonlyArray<string> => String(list).match(/id=\d+(?= .*name=accountlink)/g) ?? [],
    ),
  );

const reasonOf = ({ cause }: StoreUnavailable) => (cause instanceof RedisFailure ? cause.message : "unknown");

describe.skipIf(missing !== null)(`connections ${missing ?? "to Redis"}`, () => {
  for (const [how, start] of Object.entries(outages)) {
    test(`connections recover soon from a Redis that was ${how}`, function* () {
      const redis = yield* start;
      const ports = yield* openNode(redis.url, { commandTimeout: "500 millis" });
      yield* Effect.eventually(useAll(ports));
      yield* redis.break;
      // Wait until commands fail at once, which means that the connection was closed.
      yield* until(
        Effect.gen(function* () {
          const began = performance.now();
          yield* Effect.flip(useAll(ports));
          return performance.now() - began < 20;
        }),
      );
      yield* redis.restore;
      const [passed] = yield* Effect.timed(Effect.eventually(useAll(ports)));
      // The recovery takes half a second on a quiet machine.
      assert.isBelow(Duration.toMillis(passed), 10_000);
    });
  }

  test("connections are established when Redis starts after its client", function* () {
    const server = yield* startRedis();
    yield* server.kill;
    const ports = yield* openNode(server.url);
    assert.strictEqual(reasonOf(yield* Effect.flip(useAll(ports))), "not connected");
    yield* server.restart;
    yield* Effect.eventually(useAll(ports));
  });

  test("connections are replaced once if their server becomes a replica, even if it refuses many writes", function* () {
    const warnings: Array<string> = [];
    const note = ({ message }: Error) => void warnings.push(message);
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("warning", note)),
      () => Effect.sync(() => process.off("warning", note)),
    );
    const server = yield* startRedis();
    const connected = yield* connectionsOf(server.url);
    const ports = yield* openNode(server.url);
    yield* useAll(ports);
    const before = yield* connected;
    yield* server.ask("REPLICAOF", "127.0.0.1", "1");
    yield* Effect.replicateEffect(Effect.exit(useAll(ports)), 20, { concurrency: "unbounded" });
    yield* until(Effect.map(connected, (ids) => ids.some((id) => !before.includes(id))));
    assert.deepStrictEqual(warnings, []);
    yield* server.ask("REPLICAOF", "NO", "ONE");
    yield* Effect.eventually(useAll(ports));
  });

  test("a server that becomes a replica answers no lookups, until it is a primary again", function* () {
    const server = yield* startRedis();
    const ports = yield* openNode(server.url);
    const lookup = Effect.exit(Context.get(ports, Cache).get("key", 0));
    yield* until(Effect.map(lookup, Exit.isSuccess));
    yield* server.ask("REPLICAOF", "127.0.0.1", "1");
    yield* until(Effect.map(lookup, Exit.isFailure));
    yield* server.ask("REPLICAOF", "NO", "ONE");
    yield* until(Effect.map(lookup, Exit.isSuccess));
  });

  test("all connections close with the scope", function* () {
    const server = yield* startRedis();
    const connected = yield* connectionsOf(server.url);
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* useAll(yield* openNode(server.url));
        yield* until(Effect.map(connected, (ids) => ids.length === 2));
      }),
    );
    yield* until(Effect.map(connected, (ids) => ids.length === 0));
  });

  test("connections log in to the database of the URL, and report failures without secrets", function* () {
    const password = "p@ss/w:rd%";
    const server = yield* startRedis({
      config: ["user default off", `user node on >${password} ~* +@all`],
    });
    const urlWith = (secret: string) =>
      `redis://node:${encodeURIComponent(secret)}@127.0.0.1:${server.port}/3`;
    yield* useAll(yield* openNode(urlWith(password)));

    const lines: Array<string> = [];
    const keep = Logger.make(
      ({ message, fiber }) => void lines.push(inspect([message, fiber], { depth: 6 })),
    );
    const wrong = "wr0ng-secret";
    const ports = yield* Layer.build(
      CacheRedis.layer({ url: Redacted.make(urlWith(wrong)) }).pipe(Layer.provide(Logger.layer([keep]))),
    );
    const error = yield* Effect.flip(useAll(ports));
    yield* until(Effect.sync(() => lines.length > 0));
    const told = inspect([error, error.cause, lines], { depth: null });
    assert.include(told, "Redis cannot be reached");
    assert.include(told, "WRONGPASS");
    for (const secret of [wrong, String(server.port)]) assert.notInclude(told, secret);
  });

  test("connections to a database that turns out not to be there never use another one", function* () {
    const server = yield* startRedis();
    const url = `${server.url}/99`;
    yield* server.kill;
    const ports = yield* openNode(url);
    yield* server.restart;
    // The server answers a client that the driver did not refuse.
    const client = yield* openClient(server.url);
    yield* until(
      Effect.promise(() =>
        client.ping().then(
          () => true,
          () => false,
        ),
      ),
    );
    yield* until(
      Effect.promise(async () =>
        /cmdstat_select:.*failed_calls=[1-9]/.test(await client.info("commandstats")),
      ),
    );
    assert.strictEqual(reasonOf(yield* Effect.flip(useAll(ports))), "not connected");
    assert.strictEqual(yield* Effect.promise(() => client.dbsize()), 0);
  });

  test("connections to a Redis with too many clients are established once others close", function* () {
    const server = yield* startRedis({ config: ["maxclients 1"] });
    const other = yield* openClient(server.url);
    yield* Effect.eventually(Effect.tryPromise(() => other.ping()));
    const open = openNode(`${server.url}/3`);
    // Redis may end a connection before its client has read why.
    yield* Effect.replicateEffect(Effect.scoped(open), 8);
    const ports = yield* open;
    assert.strictEqual(reasonOf(yield* Effect.flip(useAll(ports))), "not connected");
    yield* Effect.promise(() => other.config("SET", "maxclients", "100"));
    yield* Effect.eventually(useAll(ports));
  });

  test("the error for a malformed URL does not repeat the URL", function* () {
    const build = Layer.build(CacheRedis.layer({ url: Redacted.make("http://user:secret@host") }));
    const error = yield* Effect.flip(build);
    assert.match(error.message, /^Cannot read the Redis URL, expected one of: redis:\/\//);
    assert.notInclude(inspect(error), "secret");
  });
});

describe.skipIf(noCertificate !== null)(`connections with TLS ${noCertificate ?? "to Redis"}`, () => {
  test("connections require a valid certificate", function* () {
    const made = yield* makeCertificate;
    const server = yield* startRedis({ tls: made });
    const trusting = yield* openNode(server.url, { tls: { ca: made.authority } });
    const [cache, now] = [Context.get(trusting, Cache), Date.now()];
    yield* cache.set("key", "value", now + 60_000, now);
    const found = yield* cache.get("key", now);
    assert.deepStrictEqual(found, Option.some("value"));

    const unusable = (options: Partial<CacheRedis.RedisOptions>) => {
      const given = { url: Redacted.make(server.url), ...options };
      const messageOf = <E extends { readonly message: string }>(
        refused: Effect.Effect<unknown, E, Scope.Scope>,
      ) => Effect.map(Effect.flip(Effect.scoped(refused)), ({ message }) => message);
      return Effect.all([
        messageOf(Layer.build(CacheRedis.layer(given))),
        messageOf(CacheRedis.inspect(given)),
        messageOf(Layer.build(StorageRedis.layer({ ...given, startTimeout: "1 minute" }))),
      ]);
    };
    for (const message of yield* unusable({})) {
      assert.match(
        message,
        /^Cannot use Redis at .* is signed by itself, expected an authority that NODE_EXTRA/,
      );
    }
    const other = yield* makeCertificate;
    const pair = { ca: made.authority, cert: made.authority, key: readFileSync(other.key) };
    for (const message of yield* unusable({ tls: pair })) {
      assert.include(
        message,
        "its tls.key does not belong to tls.cert, expected the key of that certificate",
      );
    }
  });

  for (const [problem, made] of [
    ["is over since", { days: -1 }],
    ['is for DNS:elsewhere.example, expected one for "127.0.0.1"', { name: "DNS:elsewhere.example" }],
  ] as const) {
    test(`a start is refused at once if the certificate ${problem}`, function* () {
      const certificate = yield* makeCertificateFor(made);
      const server = yield* startRedis({ tls: certificate });
      const options = { url: Redacted.make(server.url), tls: { ca: certificate.authority } };
      const { message } = yield* Effect.flip(Layer.build(CacheRedis.layer(options)));
      assert.include(message, problem);
    });

    test(`a start is refused at once if the certificate of a master behind sentinels ${problem}`, function* () {
      const [good, bad] = [yield* makeCertificate, yield* makeCertificateFor(made)];
      const master = yield* startRedis({ tls: bad });
      const sentinel = yield* startRedis({
        sentinel: true,
        tls: good,
        config: [`sentinel monitor main 127.0.0.1 ${master.port} 1`],
      });
      const url = Redacted.make(`rediss+sentinel://127.0.0.1:${sentinel.port}/main`);
      const options = { url, tls: { ca: [good.authority, bad.authority] } };
      for (const refused of [
        Effect.flip(Effect.scoped(Layer.build(CacheRedis.layer(options)))),
        Effect.flip(CacheRedis.inspect(options)),
      ]) {
        const { message } = yield* refused;
        assert.include(message, problem);
        assert.include(message, `127.0.0.1:${master.port}`);
      }
    });
  }
});

/**
 * Runs the HTTP application in this process over a real socket, with stores that fail on demand, for failures that a
 * test cannot cause in a server process.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import {
  AccountLink,
  AddressVault,
  Counters,
  decodeFixture,
  FixtureLoader,
  NetworkIntelligence,
  SessionSettings,
  StoreUnavailable,
} from "@accountlink/core";
import { parseNetwork } from "@accountlink/core/addresses";
import { EventStore } from "@accountlink/core/events";
import { RootKey, Secrets } from "@accountlink/core/secrets";
import { HttpSettings, makeHttpApp, makeNodeListener, Readiness } from "@accountlink/http";
import { CacheMemory, PlatformMemory, StorageMemory } from "@accountlink/memory";
import { makePages } from "@accountlink/pages";
import { freePort } from "@accountlink/test-servers";
import * as NodeCrypto from "@effect/platform-node/NodeCrypto";
import { Context, Effect, Layer, Logger, ManagedRuntime, Option, Redacted } from "effect";
import { makeClient } from "./http.ts";

/** The stores work, are unreachable, throw an unexpected error, or have deleted all events as too old. */
type StoreState = "well" | "down" | "broken" | "swept";

/** The cause of a failure, which no answer may show. */
export const internalCause = "This store has a bug";

const secret = Redacted.make(new Uint8Array(32));

/** Lifetime of sessions in milliseconds, short enough for tests to wait. */
const sessionLife = 300;

export type BrokenStores = Awaited<ReturnType<typeof startOnBrokenStores>>;

export const startOnBrokenStores = async (fixture: object) => {
  const text = JSON.stringify(fixture);
  let state: StoreState = "well";

  const breakable = (name: string, store: object): object =>
    new Proxy(store, {
      get: (target, operation, receiver) => {
        if (state === "down")
          return () => Effect.fail(new StoreUnavailable({ operation: String(operation) }));
        if (state === "broken") return () => Effect.die(new Error(internalCause));
        if (state === "swept" && name === EventStore.key && operation === "read")
          return () => Effect.succeedNone;
        return Reflect.get(target, operation, receiver) as unknown;
      },
    });

  const allBreakable = <Ports>(ports: Context.Context<Ports>): Context.Context<Ports> =>
    Context.makeUnsafe(
      new Map(Array.from(ports.mapUnsafe, ([name, port]) => [name, breakable(name, port as object)])),
    );

  // `CacheMemory` provides counters, a cache and signals. Only its counters fail on demand. Its cache and its signals
  // always work.
  const countersOnly = Layer.effect(Counters, Counters).pipe(Layer.provide(CacheMemory.layer));
  const stores = Layer.effectContext(
    Layer.build(Layer.merge(StorageMemory.layer, countersOnly)).pipe(
      Effect.map(Context.omit(Layer.CurrentMemoMap)),
      Effect.map(allBreakable),
    ),
  );

  const platforms = Layer.unwrap(
    Effect.map(decodeFixture(text), ({ platform }) =>
      Layer.merge(PlatformMemory.layer(platform), PlatformMemory.layerIdentities(platform)),
    ),
  );

  const services = AccountLink.layerWeb.pipe(
    Layer.provideMerge(AccountLink.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        stores,
        platforms,
        Secrets.layer.pipe(Layer.provide(Layer.succeed(RootKey, secret))),
        AddressVault.layer(new Map([["test", secret]])),
        NetworkIntelligence.none,
      ),
    ),
    Layer.provideMerge(Layer.mergeAll(CacheMemory.layer, NodeCrypto.layer, NodeCrypto.layerSecureRandom)),
    Layer.provideMerge(Layer.mergeAll(settings, Logger.layer([]))),
  );

  const port = await freePort();
  const runtime = ManagedRuntime.make(Layer.provideMerge(serving(text, port), services));
  await runtime.context();
  const url = `http://127.0.0.1:${port}`;
  const client = makeClient(url);
  return {
    url,
    send: client.send,
    setStores: (next: StoreState) => {
      state = next;
    },
    stop: async () => {
      client.close();
      await runtime.dispose();
    },
  };
};

const serving = (fixture: string, port: number) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      yield* (yield* FixtureLoader).load(fixture);
      const server = createServer(yield* makeNodeListener(yield* makeHttpApp({ pages: makePages }))).listen(
        port,
        "127.0.0.1",
      );
      yield* Effect.promise(() => once(server, "listening"));
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close().closeAllConnections()));
    }),
  );

const settings = Layer.mergeAll(
  Layer.effect(
    SessionSettings,
    Effect.map(SessionSettings, (usual) => ({ ...usual, life: sessionLife })),
  ),
  Layer.succeed(HttpSettings, {
    publicUrl: "http://service.example",
    trustedProxies: [Option.getOrThrow(parseNetwork("127.0.0.0/8"))],
  }),
  Layer.succeed(Readiness, {
    deployment: "broken",
    failing: Effect.succeed([]),
    degraded: Effect.succeed([]),
  }),
);

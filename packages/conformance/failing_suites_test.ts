import { CacheMemory } from "@accountlink/cache-memory";
import {
  AuditLog,
  Cache,
  Counters,
  CountLedger,
  FlowStore,
  KeyStore,
  LinkStore,
  RootKeyStore,
  SessionStore,
  SightingStore,
  Signals,
  UserStore,
} from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Context, Effect, Layer } from "effect";
import * as test from "vitest";
import { type Breakage, breakable, failingTitles, unavailable } from "./internal/broken.ts";
import {
  Connection,
  failingCacheSuite,
  failingCountersSuite,
  failingSignalsSuite,
  failingStorageSuite,
} from "./mod.ts";

const makeConnection = () => {
  let broken = false;
  const connection = Connection.of({
    break: Effect.sync(() => {
      broken = true;
    }),
    restore: Effect.sync(() => {
      broken = false;
    }),
  });
  return { connection, isBroken: () => broken };
};

const storage = (breakage: Breakage = unavailable) =>
  Layer.effectContext(
    Effect.map(Layer.build(StorageMemory.layer), (ports) => {
      const { connection, isBroken } = makeConnection();
      return Context.make(Connection, connection).pipe(
        Context.add(LinkStore, breakable(Context.get(ports, LinkStore), isBroken, breakage)),
        Context.add(KeyStore, breakable(Context.get(ports, KeyStore), isBroken, breakage)),
        Context.add(AuditLog, breakable(Context.get(ports, AuditLog), isBroken, breakage)),
        Context.add(CountLedger, breakable(Context.get(ports, CountLedger), isBroken, breakage)),
        Context.add(SessionStore, breakable(Context.get(ports, SessionStore), isBroken, breakage)),
        Context.add(FlowStore, breakable(Context.get(ports, FlowStore), isBroken, breakage)),
        Context.add(RootKeyStore, breakable(Context.get(ports, RootKeyStore), isBroken, breakage)),
        Context.add(SightingStore, breakable(Context.get(ports, SightingStore), isBroken, breakage)),
        Context.add(UserStore, breakable(Context.get(ports, UserStore), isBroken, breakage)),
      );
    }),
  );

const cache = Layer.effectContext(
  Effect.map(Layer.build(CacheMemory.layer), (ports) => {
    const { connection, isBroken } = makeConnection();
    return Context.make(Connection, connection).pipe(
      Context.add(Counters, breakable(Context.get(ports, Counters), isBroken)),
      Context.add(Cache, breakable(Context.get(ports, Cache), isBroken)),
      Context.add(Signals, breakable(Context.get(ports, Signals), isBroken)),
    );
  }),
);

const every = "every operation fails with StoreUnavailable, and works again";
const before = "a write that failed before it began stored nothing, and what stood before it stands";
const verification = "a verification that failed before it began changed nothing, and completes afterwards";
const erasure = "an erasure that failed before it began erased nothing, and can be made afterwards";
const during = "when the connection breaks under writes, what was answered is stored, in one chain";

/** How an adapter may fail wrongly, and the cases that must find it. */
const mistakes: Readonly<Record<string, readonly [Breakage, ReadonlyArray<string>]>> = {
  "it dies": [
    () => Effect.die(new Error("connection reset")),
    [every, before, verification, erasure, during],
  ],
  "one operation answers": [
    (operation, name) => (name === "exportPage" ? Effect.succeed([]) : unavailable(operation, name)),
    [every],
  ],
  "writes are stored and refused": [
    (operation, name) => Effect.andThen(Effect.exit(operation), unavailable(operation, name)),
    [before, verification, erasure],
  ],
  "writes are answered and lost": [
    (operation, name) =>
      name === "setGame" ? Effect.succeed({ previousGameId: null }) : unavailable(operation, name),
    [every, before, erasure, during],
  ],
};

test.describe("failing suites", () => {
  test.it("find nothing wrong with ports that fail as they should", async () => {
    const failed = await failingTitles((api) => {
      failingStorageSuite({ name: "", layer: storage(), test: api });
      failingCountersSuite({ name: "", layer: cache, test: api });
      failingCacheSuite({ name: "", layer: cache, test: api });
      failingSignalsSuite({ name: "", layer: cache, test: api });
    });
    test.expect(failed).toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("find that %s", async (_, [breakage, titles]) => {
    const layer = storage(breakage);
    const failed = await failingTitles((api) => failingStorageSuite({ name: "", layer, test: api }));
    test.expect(failed).toEqual(titles);
  });

  test.it("find that nothing was broken", async () => {
    const layer = Layer.merge(
      CacheMemory.layer,
      Layer.sync(Connection, () => makeConnection().connection),
    );
    const failed = await failingTitles((api) => failingCountersSuite({ name: "", layer, test: api }));
    test.expect(failed).toEqual([every]);
  });

  test.it("are skipped with the reason that is given", () => {
    const skipped: Array<string> = [];
    failingStorageSuite({
      name: "Memory",
      skip: "there is no connection",
      test: {
        describe: (_, body) => body(),
        it: Object.assign(() => {}, { skip: (title: string) => skipped.push(title) }),
        afterAll: () => {},
      },
    });
    test.expect(skipped).toEqual(["there is no connection"]);
  });
});

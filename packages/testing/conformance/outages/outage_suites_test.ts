import { CacheMemory, StorageMemory } from "@accountlink/memory";
import { Context, Effect, Layer } from "effect";
import * as test from "vitest";
import {
  Connection,
  cacheOutageSuite,
  countersOutageSuite,
  signalsOutageSuite,
  storageOutageSuite,
} from "../mod.ts";
import { type Breakage, breakable, failingTitles, unavailable } from "../test_mistakes.ts";

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

/** Adds a `Connection` to a layer. Breaking this connection breaks all ports of the layer. */
const breakablePorts = <Ports>(layer: Layer.Layer<Ports>, breakage: Breakage = unavailable) =>
  Layer.effectContext(
    Effect.map(Layer.build(layer), (ports) => {
      const { connection, isBroken } = makeConnection();
      const broken = Array.from(
        ports.mapUnsafe,
        ([key, port]) => [key, breakable(port as object, isBroken, breakage)] as const,
      );
      return Context.merge(Context.makeUnsafe<Ports>(new Map(broken)), Context.make(Connection, connection));
    }),
  );

const storage = (breakage?: Breakage) => breakablePorts(StorageMemory.layer, breakage);
const cache = breakablePorts(CacheMemory.layer);

const every = "every operation fails with StoreUnavailable during an outage, and recovers";
const before = "a link write during an outage is stored whole or not at all";
const verification = "verification writes during an outage change nothing, and succeed afterwards";
const erasure = "an erasure during an outage erases nothing, and succeeds afterwards";
const commit = "a keyed write during an outage stores neither write nor answer, and succeeds afterwards";
const during = "all writes that succeeded before an outage are stored, without gaps in the audit log";

/** Mistakes of an adapter, with the titles of the cases that must detect them. */
const mistakes: Readonly<Record<string, readonly [Breakage, ReadonlyArray<string>]>> = {
  "operations die": [
    () => Effect.die(new Error("connection reset")),
    [every, before, verification, erasure, commit, during],
  ],
  "refused writes are stored": [
    (operation, name) => Effect.andThen(Effect.exit(operation), unavailable(operation, name)),
    [before, verification, erasure, commit],
  ],
};

test.it("outage suites pass on ports that fail correctly", async () => {
  const failed = await failingTitles((api) => {
    storageOutageSuite({ name: "", layer: storage(), test: api });
    countersOutageSuite({ name: "", layer: cache, test: api });
    cacheOutageSuite({ name: "", layer: cache, test: api });
    signalsOutageSuite({ name: "", layer: cache, test: api });
  });
  test.expect(failed).toEqual([]);
});

test.it.each(Object.entries(mistakes))("outage suites detect that %s", async (_, [breakage, titles]) => {
  const layer = storage(breakage);
  const failed = await failingTitles((api) => storageOutageSuite({ name: "", layer, test: api }));
  test.expect(failed).toEqual(titles);
});

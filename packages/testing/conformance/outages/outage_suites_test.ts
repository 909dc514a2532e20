import type { StoragePorts } from "@accountlink/core";
import { StorageMemory } from "@accountlink/memory";
import { Context, Effect, Layer } from "effect";
import * as test from "vitest";
import { Connection, storageOutageSuite } from "../mod.ts";
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

/** A storage with a `Connection`. Breaking this connection breaks all ports. */
const storage = (breakage: Breakage) =>
  Layer.effectContext(
    Effect.map(Layer.build(StorageMemory.layer), (ports) => {
      const { connection, isBroken } = makeConnection();
      const broken = Array.from(
        ports.mapUnsafe,
        ([key, port]) => [key, breakable(port as object, isBroken, breakage)] as const,
      );
      return Context.merge(
        Context.makeUnsafe<StoragePorts>(new Map(broken)),
        Context.make(Connection, connection),
      );
    }),
  );

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

test.it.each(Object.entries(mistakes))("outage suites detect that %s", async (_, [breakage, titles]) => {
  const layer = storage(breakage);
  const failed = await failingTitles((api) => storageOutageSuite({ name: "", layer, test: api }));
  test.expect(failed).toEqual(titles);
});

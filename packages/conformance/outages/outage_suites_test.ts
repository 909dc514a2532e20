import { CacheMemory } from "@accountlink/cache-memory";
import { AuditLog, Cache, Counters, EventStore, LinkStore, Signals } from "@accountlink/core";
import { AltReviewStore, SightingStore } from "@accountlink/core/alts";
import { FlowStore } from "@accountlink/core/flow";
import { IdempotencyStore } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { CountLedger } from "@accountlink/core/limits";
import { RootKeyStore } from "@accountlink/core/secrets";
import { SessionStore } from "@accountlink/core/sessions";
import { SignInStore } from "@accountlink/core/sign_ins";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { WebhookStore } from "@accountlink/core/webhooks";
import { StorageMemory } from "@accountlink/storage-memory";
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
        Context.add(EventStore, breakable(Context.get(ports, EventStore), isBroken, breakage)),
        Context.add(WebhookStore, breakable(Context.get(ports, WebhookStore), isBroken, breakage)),
        Context.add(FlowStore, breakable(Context.get(ports, FlowStore), isBroken, breakage)),
        Context.add(SignInStore, breakable(Context.get(ports, SignInStore), isBroken, breakage)),
        Context.add(RootKeyStore, breakable(Context.get(ports, RootKeyStore), isBroken, breakage)),
        Context.add(SightingStore, breakable(Context.get(ports, SightingStore), isBroken, breakage)),
        Context.add(AltReviewStore, breakable(Context.get(ports, AltReviewStore), isBroken, breakage)),
        Context.add(UsageStore, breakable(Context.get(ports, UsageStore), isBroken, breakage)),
        Context.add(IdempotencyStore, breakable(Context.get(ports, IdempotencyStore), isBroken, breakage)),
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

const every = "every operation fails with StoreUnavailable during an outage, and recovers";
const before = "link writes during an outage store nothing, and keep what was stored";
const verification = "verification writes during an outage change nothing, and succeed afterwards";
const erasure = "an erasure during an outage erases nothing, and succeeds afterwards";
const commit = "a commit during an outage stores neither write nor answer, and succeeds afterwards";
const during = "writes that were answered before an outage are stored, without gaps in the log";

/** Mistakes of an adapter, with the cases that must detect them. */
const mistakes: Readonly<Record<string, readonly [Breakage, ReadonlyArray<string>]>> = {
  "operations die": [
    () => Effect.die(new Error("connection reset")),
    [every, before, verification, erasure, commit, during],
  ],
  "one operation answers": [
    (operation, name) => (name === "exportPage" ? Effect.succeed([]) : unavailable(operation, name)),
    [every],
  ],
  "refused writes are stored": [
    (operation, name) => Effect.andThen(Effect.exit(operation), unavailable(operation, name)),
    [before, verification, erasure, commit],
  ],
  "answered writes are lost": [
    (operation, name) =>
      name === "setGame" ? Effect.succeed({ previousGameId: null }) : unavailable(operation, name),
    [every, before, erasure, during],
  ],
};

test.describe("outage suites", () => {
  test.it("pass on ports that fail correctly", async () => {
    const failed = await failingTitles((api) => {
      storageOutageSuite({ name: "", layer: storage(), test: api });
      countersOutageSuite({ name: "", layer: cache, test: api });
      cacheOutageSuite({ name: "", layer: cache, test: api });
      signalsOutageSuite({ name: "", layer: cache, test: api });
    });
    test.expect(failed).toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("detect that %s", async (_, [breakage, titles]) => {
    const layer = storage(breakage);
    const failed = await failingTitles((api) => storageOutageSuite({ name: "", layer, test: api }));
    test.expect(failed).toEqual(titles);
  });

  test.it("detect a connection that does not break", async () => {
    const layer = Layer.merge(
      CacheMemory.layer,
      Layer.sync(Connection, () => makeConnection().connection),
    );
    const failed = await failingTitles((api) => countersOutageSuite({ name: "", layer, test: api }));
    test.expect(failed).toEqual([every]);
  });

  test.it("are skipped with the given reason", () => {
    const skipped: Array<string> = [];
    storageOutageSuite({
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

/**
 * Suites for outages of a store: every operation must fail with `StoreUnavailable`, without defects or wrong answers,
 * and succeed after the outage.
 */

import {
  Cache,
  type Conflict,
  Counters,
  GameId,
  Signals,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import { Clock, Effect, Exit, type Scope } from "effect";
import * as FastCheck from "fast-check";
import { uniqueText } from "../../mod.ts";
import { eventually, expectEqual, expectThat, expectUnavailable } from "../expect.ts";
import { commit, idempotencySteps, newRequest, newWritesByName } from "../idempotency/idempotency_steps.ts";
import { newLinkSteps } from "../links/link_steps.ts";
import {
  type Command,
  newSubjects,
  runCommand,
  storageOperations,
  storeSubjects,
} from "../property/commands.ts";
import { ada, atOnce, bob, chess, poker } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite, type TestApi } from "../suite.ts";
import { newUserSteps } from "../users/user_steps.ts";
import { newVerificationSteps } from "../verification_steps.ts";
import { Connection } from "./connection.ts";

/** A layer with a connection that can break, or the reason why the adapter has none. */
export type OutageSuiteOptions<Ports> =
  | SuiteOptions<Ports | Connection>
  | { readonly name: string; readonly test: TestApi; readonly skip: string };

/**
 * Tests outages of a store. The layer provides the ports and `Connection`, which stops and restarts the server that
 * the store depends on. A store without such a dependency passes the reason as `skip` instead of a layer.
 *
 * @example
 * ```ts
 * import * as test from "vitest";
 *
 * // Stores in the memory of the process.
 * const inProcess = { name: "Memory", test, skip: "It has no server that can be down" };
 * storageOutageSuite(inProcess);
 * countersOutageSuite(inProcess);
 * cacheOutageSuite(inProcess);
 * signalsOutageSuite(inProcess);
 * ```
 */
export const storageOutageSuite = (options: OutageSuiteOptions<StoragePorts>): void =>
  outageSuite("storage", options, ofStorage, outageWrites);

/** Tests outages of counters, like `storageOutageSuite`. */
export const countersOutageSuite = (options: OutageSuiteOptions<Counters>): void =>
  outageSuite("Counters", options, ofCounters);

/** Tests outages of a cache, like `storageOutageSuite`. */
export const cacheOutageSuite = (options: OutageSuiteOptions<Cache>): void =>
  outageSuite("Cache", options, ofCache);

/** Tests outages of signals, like `storageOutageSuite`. */
export const signalsOutageSuite = (options: OutageSuiteOptions<Signals>): void =>
  outageSuite("Signals", options, ofSignals);

const outageSuite = <Ports>(
  port: string,
  options: OutageSuiteOptions<Ports>,
  operations: Effect.Effect<Operations, Conflict | StoreUnavailable, Ports>,
  cases: Cases<Ports | Connection> = {},
): void => {
  const title = `outages of ${port}`;
  if ("skip" in options) {
    const { name, test, skip } = options;
    test.describe(`${name}: ${title}`, () => {
      test.it.skip(skip, () => Promise.resolve());
    });
    return;
  }
  suite(title, options, { ...outageCases(operations), ...cases });
};

const outageCases = <Ports>(
  operations: Effect.Effect<Operations, Conflict | StoreUnavailable, Ports>,
): Cases<Ports | Connection> => ({
  "every operation fails with StoreUnavailable during an outage, and recovers": function* () {
    const connection = yield* Connection;
    const ready = Object.entries(yield* operations);
    for (const [, operation] of ready) yield* eventually(operation);
    yield* connection.break;
    // Run the operations concurrently, because each may wait for the adapter's timeout.
    yield* Effect.forEach(ready, ([name, operation]) => expectUnavailable(name, operation), atOnce).pipe(
      Effect.ensuring(connection.restore),
    );
    for (const [, operation] of ready) yield* eventually(operation);
  },
});

const games = Array.from({ length: 60 }, (_, i) => GameId.make(`${1_000 + i}`));

const outageWrites: Cases<StoragePorts | Connection> = {
  // A server that freezes may still store a write after its caller was told that the storage is unavailable.
  "a link write during an outage is stored whole or not at all": function* () {
    const connection = yield* Connection;
    const links = yield* newLinkSteps;
    yield* links.set(ada, chess);
    const [record, entries] = [yield* links.find(ada), yield* links.entries];
    yield* connection.break;
    yield* Effect.all([
      expectUnavailable("setGame", links.set(ada, poker, 1)),
      expectUnavailable("moveChat", links.move(ada, bob, 1)),
      expectUnavailable("removeGame", links.remove(ada, 1)),
      expectUnavailable("deleteScope", links.deleteAll(1)),
    ]).pipe(Effect.ensuring(connection.restore));
    const after = yield* eventually(links.find(ada));
    const written = (yield* links.entries).slice(entries.length).map(({ details }) => details["gameId"]);
    if (after?.gameId === poker) {
      expectEqual(after.linkVersion, 2);
      expectEqual(written, [poker]);
    } else {
      expectEqual(after, record);
      expectEqual(written, []);
    }
  },

  "verification writes during an outage change nothing, and succeed afterwards": function* () {
    const connection = yield* Connection;
    const steps = yield* newVerificationSteps;
    const session = yield* steps.create();
    const flow = yield* steps.proven(session.id);
    yield* connection.break;
    yield* Effect.all([
      expectUnavailable("complete", steps.complete(flow)),
      expectUnavailable("advance", steps.advance(session.id, "cancelled")),
      expectUnavailable("prove", steps.prove(flow, { step: "chat", chatId: bob })),
    ]).pipe(Effect.ensuring(connection.restore));
    expectEqual(yield* eventually(steps.find(session.id)), session);
    expectEqual(yield* steps.links.find(ada), null);
    expectEqual((yield* steps.complete(flow))._tag, "Completed");
  },

  "an erasure during an outage erases nothing, and succeeds afterwards": function* () {
    const connection = yield* Connection;
    const user = yield* newUserSteps;
    const { global } = yield* user.newScopes;
    yield* user.set(global, chess);
    const before = yield* user.find;
    yield* connection.break;
    yield* expectUnavailable("erase", user.erase([global.pid])).pipe(Effect.ensuring(connection.restore));
    expectEqual(yield* eventually(user.find), before);
    expectEqual((yield* user.erase([global.pid]))?.records, 1);
  },

  "a keyed write during an outage stores neither write nor answer, and succeeds afterwards": function* () {
    const connection = yield* Connection;
    const { find } = yield* idempotencySteps;
    const { writes, state } = yield* newWritesByName;
    const [request, before] = [newRequest(), yield* state];
    yield* connection.break;
    yield* expectUnavailable("moveChat", commit(request, writes.moveChat)).pipe(
      Effect.ensuring(connection.restore),
    );
    expectEqual(yield* eventually(state), before);
    expectEqual(yield* find(request), null);
    expectThat((yield* commit(request, writes.moveChat)) !== null, "the commit succeeds");
  },

  "all writes that succeeded before an outage are stored, without gaps in the audit log": function* () {
    const connection = yield* Connection;
    const links = yield* newLinkSteps;
    yield* links.set(ada, chess);
    const writes = games.map((gameId) => Effect.exit(links.set(ada, gameId)));
    const [before, , after] = yield* Effect.all(
      [Effect.all(writes.slice(0, 30), atOnce), connection.break, Effect.all(writes.slice(30), atOnce)],
      atOnce,
    ).pipe(Effect.ensuring(connection.restore));

    const entries = yield* eventually(links.entries);
    const stored = entries.map(({ details }) => details["gameId"]);
    for (const [i, exit] of [...before, ...after].entries()) {
      if (Exit.isSuccess(exit))
        expectThat(stored.includes(games[i]), `the answered write of ${games[i]} is stored`);
      else yield* expectUnavailable("setGame", exit);
    }
    expectEqual(
      entries.map(({ details }) => details["previousGameId"]),
      [null, ...stored.slice(0, -1)],
    );
    expectEqual((yield* links.find(ada))?.gameId, stored.at(-1) as GameId);
  },
};

/** Operations by name. A test may run each operation several times. */
type Operations = Readonly<Record<string, Effect.Effect<unknown, Conflict | StoreUnavailable, Scope.Scope>>>;

type OperationsOf<Port> = {
  readonly [Name in keyof Port]: Effect.Effect<unknown, Conflict | StoreUnavailable, Scope.Scope>;
};

/** Every operation of a storage, on one account. */
const ofStorage = Effect.gen(function* () {
  const subjects = newSubjects();
  yield* storeSubjects(subjects);
  const ports = yield* Effect.context<StoragePorts>();
  return Object.fromEntries(
    Object.entries(storageOperations).map(([op, { input }]) => {
      const command = { op, ...largestOf(input) } as Command;
      return [op, Effect.provideContext(runCommand(subjects, command), ports)];
    }),
  );
});

const sizeOf = (fields: object): number => JSON.stringify(fields).length;

/** The largest of some inputs, since an adapter need not ask its store about an empty list. */
const largestOf = (input: FastCheck.Arbitrary<object>): object => {
  const inputs = FastCheck.sample(input, { numRuns: 20, seed: 1 });
  return inputs.reduce((one, other) => (sizeOf(other) > sizeOf(one) ? other : one));
};

const ofCounters = Effect.gen(function* () {
  const counters = yield* Counters;
  const now = yield* Clock.currentTimeMillis;
  const rules = [{ key: uniqueText(), limit: 100, durationMs: 60_000 }];
  return {
    admit: counters.admit(rules, now),
    read: counters.read(rules, now),
  } satisfies OperationsOf<Counters["Service"]>;
});

const ofCache = Effect.gen(function* () {
  const cache = yield* Cache;
  const now = yield* Clock.currentTimeMillis;
  const key = uniqueText();
  return {
    get: cache.get(key, now),
    getMany: cache.getMany([key], now),
    set: cache.set(key, "value", now + 60_000, now),
  } satisfies OperationsOf<Cache["Service"]>;
});

const ofSignals = Effect.gen(function* () {
  const signals = yield* Signals;
  const topic = uniqueText();
  return {
    publish: signals.publish(topic, "message"),
    subscribe: signals.subscribe(topic),
  } satisfies OperationsOf<Signals["Service"]>;
});

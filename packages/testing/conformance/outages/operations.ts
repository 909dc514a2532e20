import {
  Cache,
  type Conflict,
  Counters,
  Signals,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import { Clock, Effect, type Scope } from "effect";
import * as FastCheck from "fast-check";
import { uniqueText } from "../../mod.ts";
import {
  type Command,
  newSubjects,
  runCommand,
  storageOperations,
  storeSubjects,
} from "../property/commands.ts";

/** Operations by name. A test may run each operation several times. */
export type Operations = Readonly<
  Record<string, Effect.Effect<unknown, Conflict | StoreUnavailable, Scope.Scope>>
>;

type OperationsOf<Port> = {
  readonly [Name in keyof Port]: Effect.Effect<unknown, Conflict | StoreUnavailable, Scope.Scope>;
};

/** Every operation of a storage, on one account. */
export const ofStorage = Effect.gen(function* () {
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

export const ofCounters = Effect.gen(function* () {
  const counters = yield* Counters;
  const now = yield* Clock.currentTimeMillis;
  const rules = [{ key: uniqueText(), limit: 100, durationMs: 60_000 }];
  return {
    admit: counters.admit(rules, now),
    read: counters.read(rules, now),
  } satisfies OperationsOf<Counters["Service"]>;
});

export const ofCache = Effect.gen(function* () {
  const cache = yield* Cache;
  const now = yield* Clock.currentTimeMillis;
  const key = uniqueText();
  return {
    get: cache.get(key, now),
    getMany: cache.getMany([key], now),
    set: cache.set(key, "value", now + 60_000, now),
  } satisfies OperationsOf<Cache["Service"]>;
});

export const ofSignals = Effect.gen(function* () {
  const signals = yield* Signals;
  const topic = uniqueText();
  return {
    publish: signals.publish(topic, "message"),
    subscribe: signals.subscribe(topic),
  } satisfies OperationsOf<Signals["Service"]>;
});

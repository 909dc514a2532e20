/** Starts nodes that share counters and a ledger. Tests can make the counters and the ledger fail. */
import { CacheMemory, StorageMemory } from "@accountlink/memory";
import { Clock, Context, type Duration, Effect, Exit, Layer, Logger, Scope } from "effect";
import { TestClock } from "effect/testing";
import { StoreUnavailable } from "../errors.ts";
import { dayMs } from "../timestamp.ts";
import { CountLedger } from "./count_ledger.ts";
import { type CounterRule, Counters } from "./counters.ts";
import * as ResilientCounters from "./resilient_counters.ts";

export const dayRule = (limit: number) =>
  Effect.map(
    Clock.currentTimeMillis,
    (now): CounterRule => ({
      key: "day:a",
      limit,
      durationMs: dayMs - (now % dayMs),
      since: now - (now % dayMs),
    }),
  );

/**
 * Wraps a port so that its calls fail while `isDown` returns true. Each answer is delayed by the duration that `onCall`
 * returns.
 */
const failing = <Shape extends object>(
  port: () => Shape,
  isDown: () => boolean,
  onCall: () => Duration.Input = () => 0,
): Shape =>
  new Proxy({} as Shape, {
    get:
      (_, name) =>
      (...args: ReadonlyArray<unknown>) =>
        Effect.suspend(() => {
          const answer = Effect.suspend(() => {
            if (isDown()) return Effect.fail(new StoreUnavailable({ operation: String(name) }));
            return (Reflect.get(port(), name) as (...all: typeof args) => Effect.Effect<unknown>)(...args);
          });
          const delay = onCall();
          return delay === 0 ? answer : Effect.delay(answer, delay);
        }),
  });

export interface Node {
  readonly counters: Counters["Service"];
  /** Stops the node gracefully, so that it saves its counts. */
  readonly stop: Effect.Effect<void>;
}

const memoryCounters = Effect.map(Layer.build(Layer.fresh(CacheMemory.layer)), (ports) =>
  Context.get(ports, Counters),
);

/** The empty counters and ledger that all nodes share. */
const makeDeployment = Effect.gen(function* () {
  let shared = yield* memoryCounters;
  const ledger = Context.get(yield* Layer.build(Layer.fresh(StorageMemory.layer)), CountLedger);
  const state = {
    isSharedDown: false,
    sharedDelay: 0 as Duration.Input,
    isLedgerDown: false,
    ledgerDelay: 0 as Duration.Input,
    ledgerCalls: 0,
  };
  const ledgerPort = failing(
    () => ledger,
    () => state.isLedgerDown,
    () => {
      state.ledgerCalls++;
      return state.ledgerDelay;
    },
  );
  const sharedPort = failing(
    () => shared,
    () => state.isSharedDown,
    () => state.sharedDelay,
  );
  const openNode = Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope);
    const ports = yield* Layer.buildWithScope(
      Layer.fresh(ResilientCounters.layer({ local: CacheMemory.layer })).pipe(
        Layer.provide(Layer.succeed(Counters, sharedPort)),
        Layer.provide(Layer.succeed(CountLedger, ledgerPort)),
        Layer.provide(Logger.layer([])),
      ),
      scope,
    );
    return { counters: Context.get(ports, Counters), stop: Scope.close(scope, Exit.void) } satisfies Node;
  });

  const lose = Effect.map(memoryCounters, (empty) => {
    shared = empty;
  });
  return { state, openNode, lose, ledger, shared: () => shared };
});

export const noon = 20_000 * dayMs + dayMs / 2;

/** Starts nodes, and waits until each of them knows the number of nodes. */
export const openNodes = Effect.fnUntraced(function* (count: number, from = noon) {
  yield* TestClock.setTime(from);
  const deployment = yield* makeDeployment;
  const nodes = yield* Effect.all(Array.from({ length: count }, () => deployment.openNode));
  yield* TestClock.adjust("3 seconds");
  return { ...deployment, nodes: nodes as [Node, ...Array<Node>] };
});

const isAdmitted = ({ counters }: Pick<Node, "counters">, rule: CounterRule) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.map(counters.admit([rule], now), ({ admitted }) => admitted),
  );

/** Sends requests to a node, and returns how many it admits. */
export const admittedOf = (node: Pick<Node, "counters">, rule: CounterRule, requests: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: requests }), () => isAdmitted(node, rule)),
    (answers) => answers.filter((admitted) => admitted).length,
  );

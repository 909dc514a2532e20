/**
 * Three nodes under load while what is around them breaks, one thing after the other.
 */
import { Effect, Exit, Fiber, Random, Scope } from "effect";
import { makeWorld } from "../support/world.ts";
import { type Attempt, attempt } from "./attempt.ts";
import { allFaults, type Fault } from "./faults.ts";
import { type Entry, fixtureWithGameUsers, type History, makeHistory } from "./history.ts";
import { watchLimitFailures } from "./limit_failures.ts";
import { type LimitedKey, lag, limitsOf, makeSpender, type Spending } from "./limit_spending.ts";
import { feelPulse } from "./pulse.ts";
import { type Node, type Service, startService } from "./service.ts";

/** How long to break things, and the seed of what is random. */
export interface FaultRunOptions {
  readonly seconds: number;
  readonly seed: string;
}

/** One fault, and what was seen around it. Times are those of `performance.now()`. */
export interface Strike {
  readonly fault: Fault;
  readonly began: number;
  /** When what was away answered again. */
  readonly returned: number;
  /** When all nodes counted the limits together again. */
  readonly together: number;
  /** When the next thing happened. */
  readonly over: number;
  readonly spending: Spending;
  /** Nodes that Redis left without an answer on a limit meanwhile. */
  readonly alone: ReadonlyArray<Node>;
}

/** What came out of a run. */
export interface FaultRun {
  readonly seed: string;
  readonly service: Service;
  readonly strikes: ReadonlyArray<Strike>;
  /** What was seen while nothing was broken. */
  readonly peaceful: ReadonlyArray<Pick<Strike, "spending" | "alone">>;
  readonly entries: ReadonlyArray<Entry>;
  /** Requests that need no store, all the time: how slow they are is how slow the machine is. */
  readonly pulse: ReadonlyArray<Attempt>;
}

/** The account of the key that the history is made with. */
export const account = "writers";
/** How many requests each of the limited keys is worth. */
const limit = 150;

const clientCount = 8;
/** A fault takes longer, so there are more keys than faults. */
const limitedKeysPerSecond = 1;
/** How long everything has to have gone well before the next fault, and how long that is waited for. */
export const quiet = 600;
const longestUnrest = 8_000;

/** Starts a service, breaks what can be broken for as long as is asked, and asks every node for everything at the end. */
export const runFaults = Effect.fnUntraced(function* ({ seconds, seed }: FaultRunOptions) {
  const world = makeWorld();
  const history = makeHistory(world.key({ account }));
  const limitedKeys = Array.from({ length: 10 + seconds * limitedKeysPerSecond }, (_, index): LimitedKey => {
    const window = index % 2 === 0 ? "hour" : "day";
    return { key: world.key({ limits: limitsOf[window](limit) }), limit, window };
  });
  const nextLimitedKey = () => limitedKeys.pop() as LimitedKey;
  const service = yield* startService({ fixture: fixtureWithGameUsers(world) });
  const spendInPeace = Effect.gen(function* () {
    const { spendMost, spendRest } = makeSpender(service.nodes, nextLimitedKey());
    const failures = yield* watchLimitFailures(service.nodes);
    yield* spendMost;
    const spending = yield* spendRest(() => false);
    return { spending, alone: yield* failures.nodes };
  });

  const pulseScope = yield* Scope.make();
  const pulse = yield* Scope.provide(feelPulse(service.nodes), pulseScope);
  const peaceful = [yield* spendInPeace, yield* spendInPeace];
  let isWanted = true;
  const clients = yield* Effect.forEach(Array.from({ length: clientCount }).keys(), (client) =>
    history
      .client(client, service.nodes, () => isWanted)
      .pipe(Random.withSeed(`${seed}, client ${client}`), Effect.forkScoped),
  );
  const strikes: Array<Strike> = [];
  const end = performance.now() + seconds * 1_000;
  const strikeAll = Effect.gen(function* () {
    while (performance.now() < end) {
      for (const fault of yield* allFaults(service)) {
        if (performance.now() < end) strikes.push(yield* strike(service, history, fault, nextLimitedKey()));
      }
    }
  });
  yield* Random.withSeed(strikeAll, seed);
  isWanted = false;
  yield* Fiber.joinAll(clients);
  peaceful.push(yield* spendInPeace, yield* spendInPeace);
  yield* history.readAll(service.nodes);
  // Checking keeps this process from its sockets for longer than a node leaves an idle one open.
  yield* Scope.close(pulseScope, Exit.void);
  const run: FaultRun = { seed, service, strikes, peaceful, entries: history.entries, pulse };
  return run;
});

/** Lets one fault happen and pass, while a limited key is spent. */
const strike = Effect.fnUntraced(function* (
  service: Service,
  history: History,
  fault: Fault,
  key: LimitedKey,
) {
  let goesOn = true;
  const { spendMost, spendRest } = makeSpender(service.nodes, key);
  const failures = yield* watchLimitFailures(service.nodes);
  yield* spendMost;
  const spender = yield* Effect.forkChild(spendRest(() => goesOn));
  // A loss takes what was not saved: of the slow requests alone it is little.
  const before = fault.counts === "lost" ? lag : 0;
  yield* Effect.sleep(before + (yield* Random.nextIntBetween(200, 500)));
  // A node that is killed takes its metrics along.
  yield* failures.look;
  const began = performance.now();
  yield* fault.begin;
  yield* Effect.sleep(yield* Random.nextIntBetween(700, 3_000));
  yield* fault.end;
  const returned = performance.now();
  const isOver = () => performance.now() - returned > longestUnrest;
  const together = yield* untilTogether(service.nodes, isOver);
  yield* Effect.repeat(Effect.sleep(50), {
    until: () => isQuiet(history, service, returned) || isOver(),
  });
  goesOn = false;
  const spending = yield* Fiber.join(spender);
  const over = performance.now();
  const done: Strike = { fault, began, returned, together, over, spending, alone: yield* failures.nodes };
  return done;
});

/** Waits until no node decided on limits by itself for a while, and gives the time since when. */
const untilTogether = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>, isOver: () => boolean) {
  let since = performance.now();
  while (performance.now() - since < quiet && !isOver()) {
    const metrics = yield* Effect.forEach(nodes, (node) => attempt(node, "GET /metrics", {}), {
      concurrency: "unbounded",
    });
    if (!metrics.every(isTogether)) since = performance.now();
    yield* Effect.sleep("20 millis");
  }
  return since;
});

const isTogether = ({ outcome }: Attempt): boolean =>
  outcome.kind === "answered" && /^accountlink_limits_alone 0$/m.test(outcome.answer.text);

/** Whether nothing went wrong for a while, on any node. */
const isQuiet = ({ entries, isOverBefore }: History, { nodes }: Service, returned: number): boolean => {
  const since = performance.now() - quiet;
  if (since < returned || !isOverBefore(since)) return false;
  const recent: Array<Entry> = [];
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index] as Entry;
    if (entry.ended < since) break;
    recent.push(entry);
  }
  const wentWell = recent.every((entry) => isRight(entry));
  return wentWell && nodes.every(({ name }) => recent.some(({ node }) => node === name));
};

/** Whether a request was answered as it should be. */
export const isRight = ({ outcome }: Attempt): boolean => outcome.kind === "answered";

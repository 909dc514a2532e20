/**
 * Connections that are open at this end only: nothing that is said comes through, and nobody says so.
 */
import { Effect, Schedule } from "effect";
import { expect, test } from "vitest";
import { makeWorld } from "../support/world.ts";
import { type Attempt, attempt } from "./attempt.ts";
import { withDelay } from "./pulse.ts";
import { type Node, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

/** The time of an operation at a store is limited to some 3 seconds; the rest is for a machine with much to do. */
const longestRefusal = 5_000;
const longestRecovery = 2_000;

const world = makeWorld();
const unlimited = world.key({ account: "one", links: { 100001: "1" } });
const limited = world.key({
  account: "one",
  limits: { perWindow: 10_000, windowMs: 3_600_000, daily: 10_000 },
});

const lookUp = (node: Node, key: string) => attempt(node, "GET /v2/chat?chatId=100001", { key });

const isGood = ({ outcome }: Attempt): boolean =>
  outcome.kind === "answered" && outcome.answer.status === 200;

const onEvery = <A>(nodes: ReadonlyArray<Node>, act: (node: Node) => Effect.Effect<A>) =>
  Effect.forEach(nodes, act, { concurrency: "unbounded" });

/** Waits until every node answers with both keys again, and checks that it was not long. */
const recover = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>) {
  const ask = (key: string) => (node: Node) =>
    Effect.repeat(lookUp(node, key), { until: isGood, schedule: Schedule.spaced("10 millis") });
  const begin = performance.now();
  const { value: ended, delay } = yield* withDelay(
    nodes,
    Effect.gen(function* () {
      yield* onEvery(nodes, ask(unlimited));
      yield* onEvery(nodes, ask(limited));
      return performance.now();
    }),
  );
  expect(ended - begin).toBeLessThan(longestRecovery + delay);
});

test.skipIf(missing !== null)(`a half-open connection is given up soon ${missing ?? ""}`, () =>
  Effect.gen(function* () {
    const { nodes } = yield* startService({ fixture: world.fixture });
    yield* recover(nodes);

    yield* onEvery(nodes, ({ links }) => links.postgres.silence);
    for (const { called, ended, outcome } of yield* onEvery(nodes, (node) => lookUp(node, unlimited))) {
      expect(outcome).toEqual({ kind: "unavailable" });
      expect(ended - called).toBeLessThan(longestRefusal);
    }
    yield* onEvery(nodes, ({ links }) => links.postgres.restore);
    yield* recover(nodes);

    // Nobody is refused for want of Redis.
    yield* onEvery(nodes, ({ links }) => links.redis.silence);
    for (const key of [unlimited, limited]) {
      for (const made of yield* onEvery(nodes, (node) => lookUp(node, key))) {
        expect(made).toSatisfy(isGood);
        expect(made.ended - made.called).toBeLessThan(longestRefusal);
      }
    }
    yield* onEvery(nodes, ({ links }) => links.redis.restore);
    yield* recover(nodes);
  }).pipe(Effect.scoped, Effect.runPromise),
);

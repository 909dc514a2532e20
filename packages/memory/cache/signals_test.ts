import { Effect, Fiber, Queue } from "effect";
import { expect, it } from "vitest";
import { Topics } from "./signals.ts";

it("a topic delivers to 10,000 subscribers, and is dropped with its last subscriber", async () => {
  const topics = new Topics();
  const queues = await Effect.runPromise(Effect.replicateEffect(topics.subscribe("keys"), 10_000));
  topics.publish("keys", "changed");
  expect(queues.map(Queue.sizeUnsafe)).toEqual(queues.map(() => 1));
  expect(topics.size).toBe(1);
  for (const queue of queues) topics.unsubscribe("keys", queue);
  expect(topics.size).toBe(0);
});

it("10,000 topics are dropped with their last subscribers", async () => {
  const topics = new Topics();
  for (let i = 0; i < 10_000; i++) {
    const queue = await Effect.runPromise(topics.subscribe(`session ${i}`));
    topics.unsubscribe(`session ${i}`, queue);
    topics.publish(`session ${i}`, "over");
  }
  expect(topics.size).toBe(0);
});

it("unsubscribing interrupts a pending take", async () => {
  const topics = new Topics();
  const program = Effect.gen(function* () {
    const queue = yield* topics.subscribe("keys");
    const waiting = yield* Effect.forkChild(Queue.take(queue));
    yield* Effect.yieldNow;
    topics.unsubscribe("keys", queue);
    return yield* Fiber.await(waiting);
  });
  expect((await Effect.runPromise(program))._tag).toBe("Failure");
});

import { Signals } from "@accountlink/core";
import { Effect, Exit, Option, Queue, Scope } from "effect";
import { hostileTexts, uniqueText } from "../mod.ts";
import { expectEqual } from "./expect.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";

const messages = Array.from({ length: 100 }, (_, i) => `message ${i}`);

/** Takes the next messages, within ten seconds. */
const next = (queue: Queue.Dequeue<string>, count: number) =>
  Effect.timeout(Queue.takeN(queue, count), "10 seconds");

const cases: Cases<Signals> = {
  "every subscriber receives all messages of its topic in order": function* () {
    const signals = yield* Signals;
    const topic = uniqueText();
    const queues = yield* Effect.all([
      signals.subscribe(topic),
      signals.subscribe(topic),
      signals.subscribe(topic),
    ]);
    yield* Effect.forEach(messages, (message) => signals.publish(topic, message), { discard: true });
    for (const queue of queues) expectEqual(yield* next(queue, messages.length), messages);
  },

  "a subscriber receives only messages published after its subscription": function* () {
    const signals = yield* Signals;
    const topic = uniqueText();
    yield* signals.publish(topic, "to nobody");
    const early = yield* signals.subscribe(topic);
    yield* signals.publish(topic, "to one");
    const late = yield* signals.subscribe(topic);
    yield* signals.publish(topic, "to both");
    expectEqual(yield* next(early, 2), ["to one", "to both"]);
    expectEqual(yield* next(late, 1), ["to both"]);
  },

  "a subscription ends with its scope, and others continue": function* () {
    const signals = yield* Signals;
    const topic = uniqueText();
    const scope = yield* Scope.make();
    const leaving = yield* Scope.provide(signals.subscribe(topic), scope);
    const staying = yield* signals.subscribe(topic);
    yield* signals.publish(topic, "first");
    expectEqual(yield* next(leaving, 1), ["first"]);
    yield* Scope.close(scope, Exit.void);
    yield* signals.publish(topic, "second");
    expectEqual(yield* next(staying, 2), ["first", "second"]);
    expectEqual(yield* Queue.poll(leaving), Option.none());
  },

  "a topic that lost its last subscriber can be subscribed again": function* () {
    const signals = yield* Signals;
    const topic = uniqueText();
    yield* Effect.scoped(signals.subscribe(topic));
    yield* signals.publish(topic, "to nobody");
    const queue = yield* signals.subscribe(topic);
    yield* signals.publish(topic, "to one");
    expectEqual(yield* next(queue, 1), ["to one"]);
  },

  "topics keep every Unicode text distinct": function* () {
    const signals = yield* Signals;
    const prefix = uniqueText();
    const topics = hostileTexts.map((text) => `${prefix}${text}`);
    const queues = yield* Effect.forEach(topics, signals.subscribe);
    yield* Effect.forEach(topics, (topic, i) => signals.publish(topic, hostileTexts[i] as string));
    yield* Effect.forEach(topics, (topic) => signals.publish(topic, "last"));
    for (const [i, queue] of queues.entries())
      expectEqual(yield* next(queue, 2), [hostileTexts[i] as string, "last"]);
  },

  "concurrent publishers: each message arrives once, and each publisher's messages in order": function* () {
    const signals = yield* Signals;
    const topic = uniqueText();
    const queue = yield* signals.subscribe(topic);
    const publishers = Array.from({ length: 10 }, (_, publisher) =>
      messages.map((message) => `${publisher} ${message}`),
    );
    yield* Effect.forEach(
      publishers,
      (own) => Effect.forEach(own, (message) => signals.publish(topic, message), { discard: true }),
      { concurrency: "unbounded", discard: true },
    );
    const received = yield* next(queue, publishers.length * messages.length);
    for (const [publisher, own] of publishers.entries()) {
      expectEqual(
        received.filter((message) => message.startsWith(`${publisher} `)),
        own,
      );
    }
  },
};

/** Tests `Signals`: the order of messages, Unicode topics, ended subscriptions and concurrent publishers. */
export const signalsSuite = (options: SuiteOptions<Signals>): void => suite("Signals", options, cases);

import { StorageUse } from "@accountlink/core";
import { test } from "@accountlink/test-servers/effect";
import { Effect, Layer, Logger, Metric } from "effect";
import { TestClock } from "effect/testing";
import { expect } from "vitest";
import { watchClock } from "./clock.ts";

test("a node says when its clock and the storage's come apart, and when they agree again", function* () {
  const lines: Array<unknown> = [];
  let apart = 0;
  const use: StorageUse = {
    resting: () => null,
    rest: () => Effect.void,
    resume: Effect.void,
    reread: Effect.void,
    servers: Effect.succeed([]),
    clockLead: Effect.sync(() => apart),
  };
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))]);
  const watching = Layer.effectDiscard(watchClock).pipe(
    Layer.provide([logger, Layer.succeed(StorageUse, use)]),
  );
  yield* Layer.build(watching);
  yield* TestClock.adjust(0);
  expect(lines).toEqual([]);
  apart = -7_200_000;
  yield* TestClock.adjust("1 minute");
  expect(lines).toEqual([[expect.stringContaining("differs from the storage's")]]);
  const gauges = (yield* Metric.snapshot).filter(({ id }) => id === "accountlink_clock_lead_seconds");
  expect(gauges).toMatchObject([{ state: { value: -7_200 } }]);
  apart = 3_000;
  yield* TestClock.adjust("2 minutes");
  expect(lines).toHaveLength(2);
});

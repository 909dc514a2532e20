import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { TestClock, TestConsole } from "effect/testing";
import { loggingLayer } from "./logging.ts";

interface Line {
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly repeated?: number;
}

const linesSoFar = Effect.map(TestConsole.errorLines, (lines) =>
  lines.map((line) => JSON.parse(String(line)) as Line),
);

const repeatsSoFar = Effect.map(linesSoFar, (lines) => lines.map(({ repeated = 0 }) => repeated));

const fail = (times: number, route = "getChat") =>
  Effect.forEach(
    Array.from({ length: times }).keys(),
    (requestId) => Effect.annotateLogs(Effect.logError("Request failed"), { route, requestId }),
    { discard: true },
  );

const withLogging = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.andThen(Effect.provide(effect, loggingLayer({ ACCOUNTLINK_LOG_LEVEL: "info" })), linesSoFar).pipe(
    Effect.provide(TestConsole.layer, { local: true }),
  );

test("a repeated line is written at once, then each second with the number of repeats", () =>
  withLogging(
    Effect.gen(function* () {
      yield* fail(5);
      expect(yield* repeatsSoFar).toEqual([0]);
      yield* TestClock.adjust("1 second");
      expect(yield* repeatsSoFar).toEqual([0, 4]);
      yield* fail(3);
      yield* TestClock.adjust("1 second");
      expect(yield* repeatsSoFar).toEqual([0, 4, 3]);
      const { annotations } = (yield* linesSoFar)[2] ?? {};
      expect(annotations).toEqual({ route: "getChat", requestId: 2 });
      yield* TestClock.adjust("1 second");
      yield* fail(1);
      expect(yield* repeatsSoFar).toEqual([0, 4, 3, 0]);
    }),
  ));

test("when the logger ends, it writes the repeats that it has not written yet", () =>
  Effect.map(withLogging(fail(5)), (lines) => {
    expect(lines.map(({ repeated }) => repeated)).toEqual([undefined, 4]);
  }));

test("the logger counts repeats of each warning and error separately, and does not deduplicate other lines", function* () {
  expect(yield* withLogging(Effect.andThen(fail(2, "getChat"), fail(2, "getGame")))).toHaveLength(4);
  const log = Effect.andThen(Effect.logInfo("Request answered"), Effect.logWarning("Wrong key"));
  const lines = yield* withLogging(Effect.andThen(log, log));
  expect(lines.map(({ repeated = 0 }) => repeated)).toEqual([0, 0, 0, 1]);
});

test("the logger deduplicates at most 1000 different lines, and writes every other line", function* () {
  const routes = Array.from({ length: 1_001 }, (_, i) => `route${i}`);
  const lines = yield* withLogging(Effect.forEach(routes, (route) => fail(2, route), { discard: true }));
  const last = lines.filter(({ annotations }) => annotations["route"] === "route1000");
  expect(last.map(({ repeated }) => repeated)).toEqual([undefined, undefined]);
  expect(lines).toHaveLength(2_002);
});

import { assert, expect, test } from "@accountlink/test-servers/effect";
import { Effect, Redacted } from "effect";
import { TestConsole } from "effect/testing";
import { loggingLayer } from "./logging.ts";

/** The lines that an effect logs, captured from the console. */
const logged = (level: "debug" | "info" | "error", effect: Effect.Effect<void>) =>
  Effect.gen(function* () {
    yield* Effect.provide(effect, loggingLayer({ ACCOUNTLINK_LOG_LEVEL: level }));
    expect(yield* TestConsole.logLines).toEqual([]);
    const lines = (yield* TestConsole.errorLines).map(String);
    return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  }).pipe(Effect.provide(TestConsole.layer, { local: true }));

test("the log shows the addresses of the configured stores, and no other address", () =>
  Effect.gen(function* () {
    const layer = loggingLayer({
      ACCOUNTLINK_LOG_LEVEL: "info",
      ACCOUNTLINK_DATABASE_URL: Redacted.make("postgres://user:password@10.0.0.9/links"),
      ACCOUNTLINK_REDIS_URL: Redacted.make("redis://[fd00::9]:6380"),
    });
    const line = "10.0.0.9:5432 fd00::9:6380 10.0.0.9:54321 10.0.0.9 10.0.0.8:5432 fd00::9";
    yield* Effect.provide(Effect.logInfo(line), layer);
    const [text] = (yield* TestConsole.errorLines).map(String);
    assert.strictEqual(
      (JSON.parse(text ?? "{}") as { readonly message?: unknown }).message,
      "10.0.0.9:5432 fd00::9:6380 [redacted]:54321 [redacted] [redacted]:5432 [redacted]",
    );
  }).pipe(Effect.provide(TestConsole.layer, { local: true })));

test("the log has one JSON object per line on standard error, and omits lines below its level", function* () {
  const log = Effect.all([Effect.logDebug("a\nz"), Effect.logInfo("b"), Effect.logError("c")], {
    discard: true,
  });
  const messages = (level: "debug" | "info" | "error") =>
    Effect.map(logged(level, log), (lines) => lines.map(({ message }) => message));
  expect(yield* messages("debug")).toEqual(["a\nz", "b", "c"]);
  expect(yield* messages("info")).toEqual(["b", "c"]);
  expect(yield* messages("error")).toEqual(["c"]);
});

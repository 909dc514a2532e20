import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect, Schedule } from "effect";
import { TestConsole } from "effect/testing";
import { loggingLayer } from "./logging.ts";

test("warnings of Node and libraries are logged, and are printed as usual after the logger has ended", () =>
  Effect.gen(function* () {
    const [printing, print] = [process.listeners("warning"), console.warn];
    yield* Effect.sync(() => {
      console.warn("[WARN] of alk_Aa0Bb1Cc2Dd3_%s", "x".repeat(43));
      // As ioredis does at each connection of a user who may not ask for INFO.
      for (let count = 0; count < 3; count++) {
        console.warn(
          `Skipping the ready check because INFO command fails: "NOPERM this user". More: https://x`,
        );
      }
      process.emitWarning("11 close listeners added", "MaxListenersExceededWarning");
    }).pipe(
      // Node emits the warning only after this call, so wait for both lines.
      Effect.andThen(
        Effect.repeat(TestConsole.errorLines, {
          until: (lines) => lines.length === 3,
          schedule: Schedule.spaced("1 millis"),
        }),
      ),
      Effect.provide(loggingLayer({ ACCOUNTLINK_LOG_LEVEL: "info" })),
    );
    const lines = (yield* TestConsole.errorLines).map((line) => JSON.parse(String(line)));
    expect(lines).toMatchObject([
      { level: "WARN", message: "of alk_Aa0Bb1Cc2Dd3_…" },
      {
        level: "WARN",
        message: "Redis does not let its user ask for INFO, expected the rights in docs/operating.md",
      },
      {
        level: "WARN",
        message: "11 close listeners added",
        annotations: { warning: "MaxListenersExceededWarning" },
      },
    ]);
    expect([process.listeners("warning"), console.warn]).toEqual([printing, print]);
  }).pipe(Effect.provide(TestConsole.layer, { local: true })));

import { StoreUnavailable } from "@accountlink/core";
import { describe, expect, it } from "@effect/vitest";
import { Cause, Effect } from "effect";
import { ServeError } from "effect/http/HttpServerError";
import { TestConsole } from "effect/testing";
import { InvalidConfig } from "../config.ts";
import { CommandFailed, report } from "./report.ts";

const reported = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  yield* report(cause, "Cannot start");
  expect(yield* TestConsole.logLines).toEqual([]);
  return (yield* TestConsole.errorLines).join("\n");
}, Effect.provide(TestConsole.layer));

describe("report", () => {
  it.effect("says in one line what the database itself said", () =>
    Effect.gen(function* () {
      const cause = new Error("Failed", { cause: new Error("disk\n  is full") });
      expect(
        yield* reported(Cause.fail(new StoreUnavailable({ operation: "LinkStore.setGame", cause }))),
      ).toBe("Cannot use the database: disk is full");
    }),
  );

  it.effect("has something to say of an error without a message", () =>
    Effect.gen(function* () {
      const cause = new Error("address in use");
      expect(yield* reported(Cause.fail(new ServeError({ cause })))).toBe("Cannot go on: address in use");
    }),
  );

  it.effect("says at least the name of an error that says nothing", () =>
    Effect.gen(function* () {
      expect(yield* reported(Cause.fail(new ServeError({ cause: "" })))).toBe("Cannot go on: ServeError");
    }),
  );

  it.effect("says that a defect is one", () =>
    Effect.gen(function* () {
      expect(yield* reported(Cause.die(new TypeError("x is not a function")))).toBe(
        "Cannot go on, this is a bug: x is not a function",
      );
    }),
  );

  it.effect("repeats what is configured, but for keys", () =>
    Effect.gen(function* () {
      const problem = `ACCOUNTLINK_TRUSTED_PROXIES is "10.0.0.0/33,alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}"`;
      expect(yield* reported(Cause.fail(new InvalidConfig({ problem })))).toBe(
        'Cannot start: ACCOUNTLINK_TRUSTED_PROXIES is "10.0.0.0/33,alk_Aa0Bb1Cc2Dd3_…"',
      );
    }),
  );

  it.effect("tells no key and no address", () =>
    Effect.gen(function* () {
      const notes = [`line 1: alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`];
      expect(yield* reported(Cause.fail(new CommandFailed({ problem: "From 203.0.113.7", notes })))).toBe(
        "line 1: alk_Aa0Bb1Cc2Dd3_…\nFrom [redacted]",
      );
    }),
  );
});

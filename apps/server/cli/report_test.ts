import { StoreUnavailable } from "@accountlink/core";
import { expect, test } from "@accountlink/test-servers/effect";
import { Cause, Effect } from "effect";
import { ServeError } from "effect/http/HttpServerError";
import { TestConsole } from "effect/testing";
import { InvalidConfig } from "../config/config.ts";
import { CommandFailed, report } from "./report.ts";

const reported = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  yield* report(cause, "Cannot start");
  expect(yield* TestConsole.logLines).toEqual([]);
  return (yield* TestConsole.errorLines).join("\n");
}, Effect.provide(TestConsole.layer));

test("an error report prints the database's own message in one line", function* () {
  const cause = new Error("Failed", { cause: new Error("disk\n  is full") });
  expect(yield* reported(Cause.fail(new StoreUnavailable({ operation: "LinkStore.setGame", cause })))).toBe(
    "Cannot use the database: disk is full",
  );
});

test("an error report prints the cause of an error that has no message", function* () {
  const cause = new Error("address in use");
  expect(yield* reported(Cause.fail(new ServeError({ cause })))).toBe("Cannot go on: address in use");
});

test("an error report prints the name of an error that has neither message nor cause", function* () {
  expect(yield* reported(Cause.fail(new ServeError({ cause: "" })))).toBe("Cannot go on: ServeError");
});

test("a defect is reported as a bug", function* () {
  expect(yield* reported(Cause.die(new TypeError("x is not a function")))).toBe(
    "Cannot go on, this is a bug: x is not a function",
  );
});

test("an error report prints every problem of a configuration on its own line", function* () {
  const error = new InvalidConfig({ problem: "A is wrong", others: ["B is wrong", "C is wrong"] });
  expect(yield* reported(Cause.fail(error))).toBe(
    "Cannot start: A is wrong\nCannot start: B is wrong\nCannot start: C is wrong",
  );
});

test("an error report about the configuration redacts API keys, but not IP addresses", function* () {
  const problem = `ACCOUNTLINK_TRUSTED_PROXIES is "10.0.0.0/33,alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}"`;
  expect(yield* reported(Cause.fail(new InvalidConfig({ problem })))).toBe(
    'Cannot start: ACCOUNTLINK_TRUSTED_PROXIES is "10.0.0.0/33,alk_Aa0Bb1Cc2Dd3_…"',
  );
});

test("an error report that is not about the configuration redacts API keys and IP addresses", function* () {
  const notes = [`line 1: alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`];
  expect(yield* reported(Cause.fail(new CommandFailed({ problem: "From 203.0.113.7", notes })))).toBe(
    "line 1: alk_Aa0Bb1Cc2Dd3_…\nFrom [redacted]",
  );
});

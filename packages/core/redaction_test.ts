import { assert, describe, it } from "@effect/vitest";
import { redact, redactAddresses } from "./redaction.ts";

describe("redactAddresses", () => {
  it.each([
    ["no answer from 203.0.113.7:443", "no answer from [redacted]:443"],
    ["peer 2001:db8::1 closed", "peer [redacted] closed"],
    ["peer [::1]:8080 closed", "peer [[redacted]]:8080 closed"],
    ['{"ip":"::ffff:192.0.2.1"}', '{"ip":"[redacted]"}'],
    ["seen at 198.51.100.4.", "seen at [redacted]."],
    ["203.0.113.7,203.0.113.8", "[redacted],[redacted]"],
  ])("takes the address out of %j", (text, expected) => {
    assert.strictEqual(redactAddresses(text), expected);
  });

  it.each([
    "at 08:09:01.123Z",
    "version 1.2.3",
    "ratio 12:34",
    "2026-01-01T08:09:01.000Z",
    "effect@4.1.0",
    "::",
  ])("leaves %j as it is", (text) => {
    assert.strictEqual(redactAddresses(text), text === "::" ? "::" : text);
  });
});

describe("redact", () => {
  it("masks keys", () => {
    const key = `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`;
    assert.strictEqual(redact(`wrong key "${key}"`), 'wrong key "alk_Aa0Bb1Cc2Dd3_…"');
  });
});

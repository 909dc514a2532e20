import { assert, it } from "@accountlink/test-servers/effect";
import { Option } from "effect";
import * as FastCheck from "fast-check";
import { parseAddress } from "./client_address.ts";
import { redact, redactAddresses } from "./redaction.ts";

it.each([
  ["no answer from 203.0.113.7:443", "no answer from [redacted]:443"],
  ["peer 2001:db8::1 closed", "peer [redacted] closed"],
  ["peer [::1]:8080 closed", "peer [[redacted]]:8080 closed"],
  ['{"ip":"::ffff:192.0.2.1"}', '{"ip":"[redacted]"}'],
  ["seen at 198.51.100.4.", "seen at [redacted]."],
  ["203.0.113.7,203.0.113.8", "[redacted],[redacted]"],
  ["203.0.113.7: refused", "[redacted]: refused"],
  ["tcp:203.0.113.7:443...", "tcp:[redacted]:443..."],
  ["ip203.0.113.7/32", "ip[redacted]/32"],
  ["peer 2001:db8::1: refused", "peer [redacted]: refused"],
  ["ip:2001:DB8::1, gone", "ip:[redacted], gone"],
  ["connect ECONNREFUSED 2001:db8:1:2:3:4:5:6:443", "connect ECONNREFUSED [redacted]:443"],
  ["2001:db8:0:0:0:0:203.0.113.7", "[redacted]"],
  ["within 2001:db8::/32", "within [redacted]/32"],
  ["from fe80::1%eth0.", "from [redacted]."],
  ["https://[fe80::1%25eth0]:443/", "https://[[redacted]]:443/"],
  ["for=::ffff:c000:201;by=_x", "for=[redacted];by=_x"],
])("redactAddresses removes the address from %j", (text, expected) => {
  assert.strictEqual(redactAddresses(text), expected);
});

it.each([
  "at 08:09:01.123Z",
  "version 1.2.3",
  "ratio 12:34",
  "2026-01-01T08:09:01.000Z",
  "effect@4.1.0",
  "1.2.3.400",
  "aa:bb:cc:dd:ee:ff",
  "std::vector",
  "::",
])("redactAddresses leaves %j unchanged", (text) => {
  assert.strictEqual(redactAddresses(text), text);
});

it("redactAddresses replaces every address in every notation", () => {
  const addresses = FastCheck.oneof(FastCheck.ipV4Extended(), FastCheck.ipV6()).filter((one) => one !== "::");
  FastCheck.assert(
    FastCheck.property(addresses, FastCheck.constantFrom(".", ": ", ", ", "/64 ", "]:80"), (one, after) => {
      if (Option.isNone(parseAddress(one))) return;
      assert.strictEqual(redactAddresses(`from ${one}${after}`), `from [redacted]${after}`);
    }),
    { numRuns: 1_000 },
  );
});

it("redact masks the secret part of a key", () => {
  const key = `alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`;
  assert.strictEqual(redact(`wrong key "${key}"`), 'wrong key "alk_Aa0Bb1Cc2Dd3_…"');
});

import { assert, it } from "@accountlink/test-servers/effect";
import { newRequestId } from "./request_context.ts";

it("a request ID is req_ and a ULID of the current time", () => {
  const before = Date.now();
  const id = newRequestId();
  assert.match(id, /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  const digits = Array.from(id.slice(4, 14), (digit) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(digit));
  const time = digits.reduce((sum, digit) => sum * 32 + digit, 0);
  assert.isAtLeast(time, before);
  assert.isAtMost(time, Date.now());
});

it("request IDs differ, also when the pool of random bytes is used up", () => {
  assert.strictEqual(new Set(Array.from({ length: 10_000 }, newRequestId)).size, 10_000);
});

import { expect, it } from "vitest";
import { redisAdvice } from "./redis_advice.ts";

it.each([
  ["WRONGPASS", "user and password"],
  ["NOPERM", "+eval"],
  ["OOM", "maxmemory"],
  ["MISCONF", "make room"],
  ["READONLY", "primary"],
  ["MOVED", "one primary"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "NODE_EXTRA_CA_CERTS"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "rediss:"],
  ["ECONNREFUSED", "Start Redis"],
])("the advice for %s names what mends it: %s", (reason, part) => {
  expect(redisAdvice(reason, "ACCOUNTLINK_DATABASE_URL")).toContain(part);
});

import { ReplyError } from "ioredis";
import { expect, it } from "vitest";
import { reasonOf } from "./failure.ts";

const reply = (message: string): unknown => new ReplyError(message);
const withCode = (code: string) => Object.assign(new Error("connect to 10.0.0.1:6379 failed"), { code });

it.each([
  [reply("OOM command not allowed when used memory > 'maxmemory'"), "OOM"],
  [reply("ERR max number of clients reached"), "too many clients"],
  [reply("MOVED 3999 10.0.0.1:6381"), "MOVED"],
  [reply("secret words"), "refused"],
  [withCode("ECONNREFUSED"), "ECONNREFUSED"],
  [new Error("Command timed out"), "timeout"],
  [new Error("Socket timeout. Expecting data, but didn't receive any in 500ms."), "timeout"],
  [new Error("Connection is closed."), "not connected"],
  [
    Object.assign(new Error("Failed to refresh"), { lastNodeError: withCode("EHOSTUNREACH") }),
    "EHOSTUNREACH",
  ],
  ["thrown text", "unknown"],
])("the reason of %s is %s", (error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});

import { assert, describe, it } from "@effect/vitest";
import { bearerToken } from "./bearer_token.ts";

describe("bearerToken", () => {
  it.each([
    [undefined, null],
    ["", null],
    ["Bearer", null],
    ["Bearer  ", null],
    ["Bearer key", "key"],
    ["bearer   key ", "key"],
    ["Basic key", "other"],
    ["Bearerkey", "other"],
    ["alk_key", "other"],
  ])("reads %j as %j", (header, token) => {
    assert.strictEqual(bearerToken(header), token);
  });
});

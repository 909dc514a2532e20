import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { WebRequest } from "../web/web_request.ts";
import { maxBodySize, readJsonObject } from "./body.ts";
import { repeated } from "./parameters.ts";

const read = (body: BodyInit, contentType: string | null = "application/json", headers = {}) => {
  const request = new Request("http://localhost/", { method: "POST", body, headers });
  if (contentType === null) request.headers.delete("content-type");
  else request.headers.set("content-type", contentType);
  return readJsonObject(new WebRequest(request, undefined));
};

describe("readJsonObject", () => {
  it.effect.each(["application/json", "application/json; charset=utf-8", "Application/JSON", null])(
    "takes a JSON object as %s",
    (contentType) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* read('{"chatId":"10001"}', contentType), { chatId: "10001" });
      }),
  );

  it.effect.each([
    ["", "content"],
    ["[]", "content"],
    ["null", "content"],
    ['"text"', "content"],
    ["{", "content"],
    [`{"a":"${"x".repeat(maxBodySize)}"}`, "too_large"],
  ] as const)("refuses %s", ([body, problem]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(read(body))).problem, problem);
    }),
  );

  it.effect("refuses what is not UTF-8, or is encoded", () =>
    Effect.gen(function* () {
      const latin1 = new Uint8Array(Buffer.from('{"a":"\xff"}', "latin1"));
      assert.strictEqual((yield* Effect.flip(read(latin1))).problem, "content");
      const gzip = { "content-encoding": "gzip" };
      assert.strictEqual((yield* Effect.flip(read("{}", "application/json", gzip))).problem, "content_type");
      assert.deepStrictEqual(yield* read("{}", "application/json", { "content-encoding": "identity" }), {});
    }),
  );

  it.effect("refuses another content type before it reads", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(read("{}", "text/plain"))).problem, "content_type");
    }),
  );

  it.effect.each([
    ['{"a":1,"b":{"a":2},"c":["a","a"],"d":"\\"a\\":"}', []],
    ['{"a":1,"a":1}', ["a"]],
    ['{"a":{"b":1,"b":2},"b":1}', []],
    ['{"a":1,"\\u0061":2}', ["a"]],
    ['{ "a" : "}" , "b" : ":" , "a" : null }', ["a"]],
  ] as const)("finds the repeated names of %s", ([body, names]) =>
    Effect.gen(function* () {
      const values = Object.entries(yield* read(body));
      assert.deepStrictEqual(
        values.filter(([, value]) => value === repeated).map(([name]) => name),
        [...names],
      );
    }),
  );
});

import { assert, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { WebRequest } from "../web/web_request.ts";
import { readJsonObject, repeated } from "./body.ts";

const read = (body: BodyInit, contentType: string | null = "application/json", headers = {}) => {
  const request = new Request("http://localhost/", { method: "POST", body, headers });
  if (contentType === null) request.headers.delete("content-type");
  else request.headers.set("content-type", contentType);
  return readJsonObject(new WebRequest(request, undefined));
};

test("a body that is not UTF-8, or has a content encoding, is refused", function* () {
  const latin1 = new Uint8Array(Buffer.from('{"a":"\xff"}', "latin1"));
  assert.strictEqual((yield* Effect.flip(read(latin1))).problem, "content");
  const gzip = { "content-encoding": "gzip" };
  assert.strictEqual((yield* Effect.flip(read("{}", "application/json", gzip))).problem, "content_type");
  assert.deepStrictEqual(yield* read("{}", "application/json", { "content-encoding": "identity" }), {});
});

test.each([
  ['{"a":1,"b":{"a":2},"c":["a","a"],"d":"\\"a\\":"}', []],
  ['{"a":1,"a":1}', ["a"]],
  ['{"a":{"b":1,"b":2},"b":1}', []],
  ['{"a":1,"\\u0061":2}', ["a"]],
  ['{ "a" : "}" , "b" : ":" , "a" : null }', ["a"]],
] as const)("readJsonObject finds the repeated names of %s", function* ([body, names]) {
  const values = Object.entries(yield* read(body));
  assert.deepStrictEqual(
    values.filter(([, value]) => value === repeated).map(([name]) => name),
    [...names],
  );
});

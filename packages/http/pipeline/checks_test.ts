import type { Credential } from "@accountlink/http-api";
import { assert, it } from "@accountlink/test-servers/effect";
import { keyReader } from "./checks.ts";

type Headers = Partial<Record<string, string>>;

const read = (headers: Headers, credentials?: ReadonlyArray<Credential>) =>
  keyReader(credentials)({ header: (name) => headers[name] });

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
])("a key reader reads the bearer token %j as %j", (authorization, key) => {
  assert.strictEqual(read(authorization === undefined ? {} : { authorization }), key);
});

it.each([
  [{ authorization: "Bot key" }, "key"],
  [{ authorization: "Bearer key" }, "other"],
])("a key reader reads %j of bots as %j", (headers, key) => {
  assert.strictEqual(read(headers, [{ header: "authorization", scheme: "Bot" }]), key);
});

it.each([
  [{}, null],
  [{ authorization: " key " }, "key"],
  [{ "api-key": "key" }, "key"],
  [{ authorization: "", "api-key": "key" }, "key"],
  [{ authorization: "one", "api-key": "other" }, "one"],
  [{ authorization: "Bearer key" }, "Bearer key"],
])("a key reader reads bare keys of %j as %j", (headers, key) => {
  const bare: ReadonlyArray<Credential> = [
    { header: "authorization", scheme: null },
    { header: "api-key", scheme: null },
  ];
  assert.strictEqual(read(headers, bare), key);
});

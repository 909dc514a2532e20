import { AltsV2, type Credential, EventsV2, LookupsV2, type Route, SessionsV2 } from "@accountlink/http-api";
import { assert, it } from "@accountlink/test-servers/effect";
import { keyReader, turnTest } from "./checks.ts";

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

it.each([
  [LookupsV2.getChat, {}, false],
  [LookupsV2.getChat, { guildId: "9" }, true],
  [LookupsV2.getChat, { resolved: true }, true],
  [LookupsV2.bulkGame, {}, true],
  [LookupsV2.listLinks, { limit: 1 }, true],
  [AltsV2.getAlts, {}, true],
  [EventsV2.getEvents, { limit: 100, wait: 0 }, true],
  [EventsV2.getEvents, { limit: 100, wait: 25 }, false],
  [EventsV2.streamEvents, { guildId: "9" }, false],
  [SessionsV2.getSession, { wait: 0 }, false],
] as ReadonlyArray<[Route, object, boolean]>)(
  "of $0.path with $1, it is $2 that it takes a turn",
  (route, values, takes) => {
    assert.strictEqual(turnTest(route)({ values }), takes);
  },
);

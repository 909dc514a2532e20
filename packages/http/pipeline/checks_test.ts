import type { ApiKey } from "@accountlink/core";
import {
  AltsV2,
  BloxlinkV4,
  type Credential,
  EventsV2,
  LinksV1,
  LookupsV2,
  type Route,
  SessionsV2,
  WritesV2,
} from "@accountlink/http-api";
import { assert, it } from "@accountlink/test-servers/effect";
import { keyReader, placesOf } from "./checks.ts";

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

const placed: ReadonlyArray<[Route, object, string | null, ApiKey["tier"]?]> = [
  [LookupsV2.getChat, {}, null],
  [LookupsV2.getChat, { guildId: "9" }, "platform"],
  [LookupsV2.getChat, { resolved: true }, "platform"],
  [LookupsV2.getGame, {}, "reverse"],
  [LookupsV2.getGame, { guildId: "9" }, "platform"],
  [LookupsV2.bulkChat, {}, "bulk"],
  [LookupsV2.bulkGame, {}, "list"],
  [LookupsV2.bulkGame, { resolved: true }, "list"],
  [LookupsV2.bulkGame, { guildId: "9" }, "list"],
  [LookupsV2.listLinks, { limit: 1 }, "list"],
  [AltsV2.getAlts, {}, "platform"],
  [EventsV2.getEvents, { limit: 100, wait: 0 }, "list"],
  [EventsV2.getEvents, { limit: 100, wait: 25 }, null],
  [EventsV2.streamEvents, { guildId: "9" }, null],
  [SessionsV2.getSession, { wait: 0 }, null],
  [WritesV2.patchGame, {}, "write"],
  [WritesV2.patchGame, { guildId: "9" }, "platform"],
  [LookupsV2.getChat, {}, null, "premium"],
  [LinksV1.chatToGame, {}, null],
  [LinksV1.chatToGame, {}, "platform", "premium"],
  [LinksV1.gameToChat, {}, "reverse"],
  [LinksV1.gameToChat, {}, "platform", "premium"],
  [BloxlinkV4.globalDiscordToRoblox, {}, null],
  [BloxlinkV4.globalDiscordToRoblox, {}, "platform", "premium"],
  [BloxlinkV4.globalRobloxToDiscord, {}, "reverse", "premium"],
];

it.each(
  placed.map(([route, values, place, tier = "free"]) => ({ tier, path: route.path, values, place, route })),
)("a request with a $tier key to $path with $values takes a place of the kind $place", (request) => {
  const { tier, values, place, route } = request;
  assert.strictEqual(placesOf(route)({ values, key: { tier } }), place);
});

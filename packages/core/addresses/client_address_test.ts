import { assert, it } from "@accountlink/test-servers/effect";
import { Option } from "effect";
import { clientAddress, isAddressAllowed, parseAddress, parseNetwork } from "./client_address.ts";

const address = (text: string) => Option.getOrThrow(parseAddress(text));
const network = (text: string) => Option.getOrThrow(parseNetwork(text));

it.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  [" 203.0.113.7 ", "203.0.113.7"],
])("parseAddress counts %s as %s", (text, expected) => {
  assert.strictEqual(address(text).countedAs, expected);
});

it.each(["", "203.0.113", "203.0.113.7:80", "localhost", "2001:db8:::1", "203.0.113.256"])(
  "parseAddress refuses %j",
  (text) => {
    assert.isTrue(Option.isNone(parseAddress(text)));
  },
);

const trusted = [network("10.0.0.0/8"), network("2001:db8::/32")];
const from = (socket: string, forwardedFor: string | undefined) =>
  clientAddress(address(socket), forwardedFor, trusted).countedAs;

it.each([
  ["10.0.0.1", undefined, "10.0.0.1"],
  ["198.51.100.9", "198.51.100.1", "198.51.100.9"],
  ["10.0.0.1", "198.51.100.2, 198.51.100.1", "198.51.100.1"],
  ["10.0.0.1", "nonsense, 198.51.100.1 ,10.0.0.2", "198.51.100.1"],
  ["10.0.0.1", "198.51.100.1, unknown, 10.0.0.2", "10.0.0.2"],
  ["10.0.0.1", "198.51.100.1:50000, 10.0.0.2:443", "198.51.100.1"],
  ["10.0.0.1", "[2001:dead:1:2:3::9]:50000", "2001:dead:1:2"],
])("the client address of %s with the hops %j is %s", (socket, hops, expected) => {
  assert.strictEqual(from(socket, hops), expected);
});

const lists = (allowIps: Array<string>, denyIps: Array<string>) => ({ allowIps, denyIps });

it.each([
  [lists([], []), "203.0.113.7", true],
  [lists(["203.0.113.7"], []), "203.0.113.8", false],
  [lists(["203.0.113.7"], []), "::ffff:203.0.113.7", true],
  [lists(["203.0.113.0/24"], ["203.0.113.128/25"]), "203.0.113.127", true],
  [lists(["203.0.113.0/24"], ["203.0.113.128/25"]), "203.0.113.128", false],
  [lists(["2001:db8:a::/48"], []), "2001:db8:a:ffff::1", true],
  [lists([], ["2001:db8:b::1"]), "2001:DB8:B:0::1", false],
  [lists([], ["2001:db8:b::1"]), "2001:db8:b::2", true],
  [lists(["::ffff:203.0.113.0/120"], []), "203.0.113.7", true],
  [lists(["2001:db8::/48"], []), "203.0.113.7", false],
  [lists(["not an address"], []), "203.0.113.7", false],
])("isAddressAllowed with the lists %j allows the address %s: %s", (given, client, expected) => {
  assert.strictEqual(isAddressAllowed(given, address(client)), expected);
});

it.each([
  [lists([], []), true],
  [lists(["203.0.113.7"], []), false],
  [lists([], ["203.0.113.7"]), false],
])("isAddressAllowed with the lists %j allows an unknown address: %s", (given, isAllowed) => {
  assert.strictEqual(isAddressAllowed(given, null), isAllowed);
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAddress } from "@accountlink/core/addresses";
import { assert, it, test } from "@accountlink/test-servers/effect";
import { Effect, Option } from "effect";
import { IpNetwork, NetAddress } from "effect/net";
import * as FastCheck from "fast-check";
import { makeFolder } from "../commands/test_folder.ts";
import { NetworkSet, readNetworkList } from "./network_list.ts";

const address = (text: string) => Option.getOrThrow(parseAddress(text));

const read = (text: string) =>
  Effect.gen(function* () {
    const path = join(yield* makeFolder, "list.txt");
    yield* Effect.promise(() => writeFile(path, text));
    return yield* readNetworkList(path);
  });

const text = [
  "\uFEFF# Networks of VPNs",
  "198.51.100.0/24  # a data centre",
  "203.0.113.7\r",
  "",
  "::ffff:192.0.2.128/121",
  "2001:db8:1::/48",
  "2001:db8:2:3::5",
  "10.0.0.0/8",
  "10.1.0.0/16",
].join("\n");

const inside =
  "198.51.100.0 198.51.100.255 203.0.113.7 ::ffff:203.0.113.7 192.0.2.128 10.255.255.255 2001:db8:1:ffff::9 2001:db8:2:3::6";
const outside =
  "198.51.101.0 198.51.99.255 203.0.113.8 192.0.2.127 11.0.0.0 2001:db8:0:ffff::9 2001:db8:2:4::5 0.0.0.0 ::";

test("a list contains the addresses in its networks, and no others", function* () {
  const list = yield* read(text);
  const isIn = (asked: string) => list.has(address(asked));
  assert.deepStrictEqual([...inside.split(" "), ...outside.split(" ")].filter(isIn), inside.split(" "));
});

test("a list of networks may contain every address, or none", function* () {
  const all = yield* read("0.0.0.0/0\n::/0");
  assert.deepStrictEqual(
    ["0.0.0.0", "255.255.255.255", "::", "ffff::"].map((asked) => all.has(address(asked))),
    [true, true, true, true],
  );
  const none = yield* read("");
  assert.deepStrictEqual([none.has(address("0.0.0.0")), none.has(address("::"))], [false, false]);
});

test.each(["ten", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/8, 11.0.0.0/8"])(
  "a list is refused because of the line %j",
  function* (line) {
    const { message } = yield* Effect.flip(read(`203.0.113.0/24\n\n${line}\n192.0.2.0/24`));
    assert.match(
      message,
      /^Cannot use ".*list\.txt": line 3 is wrong, expected an address or a CIDR such as 10\.0\.0\.0\/8 on each line$/,
    );
  },
);

test.each([
  ["missing.txt", "ENOENT"],
  ["", "EISDIR"],
] as const)("a list is refused if %j cannot be read", function* ([name, code]) {
  const { message } = yield* Effect.flip(readNetworkList(join(yield* makeFolder, name)));
  assert.include(message, `it cannot be read: ${code}, expected a file that can be read`);
});

// Generates only few distinct addresses, so that the networks made from them often contain, touch or overlap each
// other.
const addresses = FastCheck.oneof(
  FastCheck.tuple(FastCheck.nat(2), FastCheck.nat(255)).map(([third, last]) => `10.0.${third}.${last}`),
  FastCheck.tuple(FastCheck.nat(2), FastCheck.nat(300)).map(
    ([third, fourth]) => `2001:db8:${third}:${fourth.toString(16)}::`,
  ),
).map(address);
const networks = FastCheck.tuple(addresses, FastCheck.integer({ min: 8, max: 32 })).map(([{ ip }, length]) =>
  IpNetwork.fromAddressUnsafe(ip, NetAddress.isIpv4Address(ip) ? length : length + 32),
);

it("NetworkSet agrees with a linear search through all networks", () => {
  const lists = FastCheck.array(networks, { maxLength: 60 });
  const questions = FastCheck.array(addresses, { minLength: 100, maxLength: 100 });
  FastCheck.assert(
    FastCheck.property(lists, questions, (listed, asked) => {
      const set = new NetworkSet(listed);
      for (const one of asked) {
        const expected = listed.some((candidate) => IpNetwork.contains(candidate, one.ip));
        assert.strictEqual(set.has(one), expected);
      }
    }),
  );
});

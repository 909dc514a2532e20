import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseAddress } from "@accountlink/core/addresses";
import { NetworkIntelligence, type NetworkIntelligenceUnavailable } from "@accountlink/core/alts";
import { assert, test, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Logger, Option } from "effect";
import { TestClock } from "effect/testing";
import { makeFolder } from "../commands/test_folder.ts";
import { networksLayer } from "./network_files.ts";
import { bitsOf, makeMmdb } from "./test_mmdb.ts";

const none = {
  ACCOUNTLINK_VPN_NETWORKS: null,
  ACCOUNTLINK_VPN_DATABASE: null,
  ACCOUNTLINK_SHARED_NETWORKS: null,
};

const lookup = (address: string) =>
  Effect.flatMap(NetworkIntelligence, (networks) =>
    networks.lookup(Option.getOrThrow(parseAddress(address))),
  );

const write = (path: string, content: string | Buffer) => Effect.promise(() => writeFile(path, content));

/** Writes a file into a folder of its own. */
const make = Effect.fnUntraced(function* (name: string, content: string | Buffer) {
  const path = join(yield* makeFolder, name);
  yield* write(path, content);
  return path;
});

test("an address is in a VPN or a shared network if the files or the fixture list its network", function* () {
  const paths = {
    ACCOUNTLINK_VPN_NETWORKS: yield* make("vpn.txt", "198.51.100.0/24\n"),
    ACCOUNTLINK_VPN_DATABASE: yield* make(
      "vpn.mmdb",
      makeMmdb({ [bitsOf("192.0.2.0", 24)]: { is_anonymous_vpn: true } }, 4),
    ),
    ACCOUNTLINK_SHARED_NETWORKS: yield* make("shared.txt", "203.0.113.0/24\n198.51.100.7\n"),
  };
  const asked = ["198.51.100.1", "192.0.2.1", "2001:db8::1", "203.0.113.1", "198.51.100.7", "10.0.0.1"];
  const facts = yield* Effect.forEach(asked, lookup).pipe(
    Effect.provide(networksLayer(paths, ["2001:db8::/32"])),
  );
  assert.deepStrictEqual(
    facts.map(({ vpn, shared }) => [vpn, shared]),
    [
      [true, false],
      [true, false],
      [true, false],
      [false, true],
      [true, true],
      [false, false],
    ],
  );
});

testWith(networksLayer(none, []))("without network files, an address is in no such network", function* () {
  assert.deepStrictEqual(yield* lookup("198.51.100.1"), { vpn: false, shared: false });
});

const asked = (bytes: Buffer, address: string) =>
  Effect.gen(function* () {
    const path = yield* make("asked.mmdb", bytes);
    const { vpn } = yield* Effect.provide(
      lookup(address),
      networksLayer({ ...none, ACCOUNTLINK_VPN_DATABASE: path }, []),
    );
    return vpn;
  });

test.each([
  [{ is_anonymous: true }, true],
  [{ is_hosting_provider: true, is_anonymous_vpn: false }, true],
  [{ traits: { is_tor_exit_node: true } }, true],
  [{ vpn: "true", proxy: "" }, true],
  [{ vpn: "", proxy: "", service: "true" }, false],
  [{ is_anonymous_vpn: false }, false],
  ["VPN", false],
] as const)("a network with the record %j belongs to a VPN: %s", function* ([record, expected]) {
  const bytes = makeMmdb({ [bitsOf("192.0.2.0", 24)]: record }, 4);
  assert.deepStrictEqual(
    [yield* asked(bytes, "192.0.2.9"), yield* asked(bytes, "192.0.3.9")],
    [expected, false],
  );
});

test("an IPv6 database also finds IPv4 addresses; an IPv4 database finds no IPv6 address", function* () {
  const record = { is_anonymous: true };
  const both = makeMmdb(
    { [`${"0".repeat(96)}${bitsOf("192.0.2.0", 24)}`]: record, "0010000000000001": record },
    6,
  );
  const ipv4 = makeMmdb({ "0010000000000001": record }, 4);
  assert.deepStrictEqual(
    [
      yield* asked(both, "192.0.2.1"),
      yield* asked(both, "2001:db8::1"),
      yield* asked(both, "2002::"),
      yield* asked(ipv4, "32.1.0.0"),
      yield* asked(ipv4, "2001:db8::1"),
    ],
    [true, true, false, true, false],
  );
});

const whole = makeMmdb({ [bitsOf("192.0.2.0", 24)]: { is_anonymous: true } }, 4);
test.each([
  ["an empty file", Buffer.alloc(0)],
  ["the first half of a database", whole.subarray(0, whole.length / 2)],
  ["a database without its first bytes", whole.subarray(10)],
  ["a list", Buffer.from("192.0.2.0/24\n")],
] as const)("%s is refused as a VPN database", function* ([, bytes]) {
  const { message } = yield* Effect.flip(asked(bytes, "192.0.2.1"));
  assert.match(
    message,
    /^ACCOUNTLINK_VPN_DATABASE is ".*asked\.mmdb" \(its content is wrong\), expected a database in mmdb format$/,
  );
});

const isVpn = Effect.map(lookup("198.51.100.1"), ({ vpn }) => vpn);

/** Advances the clock, so that the files are checked again and again, until the condition holds. */
const until = <R>(holds: Effect.Effect<boolean, NetworkIntelligenceUnavailable, R>) =>
  Effect.gen(function* () {
    while (!(yield* holds)) {
      yield* TestClock.adjust("1 second");
      yield* Effect.promise(() => setTimeout(10));
    }
  });

test("a changed file is read again; if it is damaged or missing, the previous content stays in use", function* () {
  const path = yield* make("changing.txt", "198.51.100.0/24\n");
  const warnings: Array<string> = [];
  const capture = Logger.layer([
    Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push(String(message));
    }),
  ]);
  const warned = (count: number) => until(Effect.sync(() => warnings.length >= count));
  yield* Effect.gen(function* () {
    assert.isTrue(yield* isVpn);
    yield* write(path, "192.0.2.0/24\n");
    yield* until(Effect.map(isVpn, (vpn) => !vpn));
    yield* write(path, "198.51.100.0/24\nwhat is 198.51.100.7?\n");
    yield* warned(1);
    assert.isFalse(yield* isVpn);
    yield* Effect.promise(() => rm(path));
    yield* warned(2);
    assert.isFalse(yield* isVpn);
    const next = yield* make("next.txt", "198.51.100.0/24\n");
    yield* Effect.promise(() => rename(next, path));
    yield* until(isVpn);
  }).pipe(
    Effect.provide(
      networksLayer({ ...none, ACCOUNTLINK_VPN_NETWORKS: path }, []).pipe(Layer.provideMerge(capture)),
    ),
  );
  const kept = "The previous content stays in use";
  assert.deepStrictEqual(warnings, [
    `Cannot use "${path}": line 2 is wrong, expected an address or a CIDR such as 10.0.0.0/8 on each line. ${kept}`,
    `Cannot use "${path}": it cannot be read: ENOENT, expected a file that can be read. ${kept}`,
  ]);
});

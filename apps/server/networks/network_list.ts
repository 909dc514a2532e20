/** Reads lists of networks with one address or CIDR per line, the format of public lists of VPNs and data centers. */
import { createReadStream } from "node:fs";
import { type ClientAddress, parseNetwork } from "@accountlink/core/addresses";
import { Effect, Option } from "effect";
import { type IpNetwork, NetAddress } from "effect/net";
import { DamagedFile, unreadable } from "./reloaded_file.ts";

/** An array of numbers or of bigints: `Uint32Array` or `BigUint64Array`. */
interface Keys<Key> {
  [at: number]: Key;
  readonly length: number;
  sort(): unknown;
  slice(start: number, end: number): Keys<Key>;
}

/** A set of address ranges in two sorted arrays, which take 8 bytes for a range of IPv4, and 16 for one of IPv6. */
class AddressRanges<Key extends number | bigint> {
  readonly #starts: Keys<Key>;
  readonly #ends: Keys<Key>;

  /** Takes the first and the last address of each range, in any order. The ranges may overlap. */
  constructor(starts: Keys<Key>, ends: Keys<Key>) {
    const count = sortAndMerge(starts, ends);
    this.#starts = starts.slice(0, count);
    this.#ends = ends.slice(0, count);
  }

  get count(): number {
    return this.#starts.length;
  }

  has(address: Key): boolean {
    let from = 0;
    let to = this.count;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#starts[middle] as Key) <= address) from = middle + 1;
      else to = middle;
    }
    return from > 0 && (this.#ends[from - 1] as Key) >= address;
  }
}

/**
 * Turns ranges into disjoint, ascending ranges in place, and returns their number. Starts and ends are sorted
 * separately, since it does not matter which end belongs to which start: an address is in some range if more ranges
 * start at or before it than end before it.
 */
const sortAndMerge = <Key extends number | bigint>(starts: Keys<Key>, ends: Keys<Key>): number => {
  starts.sort();
  ends.sort();
  let merged = 0;
  let ended = 0;
  for (let started = 0; started < starts.length; ) {
    const first = starts[started] as Key;
    do {
      if (started < starts.length && (starts[started] as Key) <= (ends[ended] as Key)) started += 1;
      else ended += 1;
    } while (ended < started);
    starts[merged] = first;
    ends[merged] = ends[ended - 1] as Key;
    merged += 1;
  }
  return merged;
};

/**
 * A set of networks. An IPv6 address counts as part of the set if the set contains any address of the same /64 network.
 */
export class NetworkSet {
  readonly #ipv4: AddressRanges<number>;
  readonly #ipv6: AddressRanges<bigint>;

  constructor(ipv4: AddressRanges<number>, ipv6: AddressRanges<bigint>) {
    this.#ipv4 = ipv4;
    this.#ipv6 = ipv6;
  }

  static of(networks: Iterable<IpNetwork.IpNetwork>): NetworkSet {
    const set = new NetworkSetBuilder();
    for (const network of networks) set.add(network);
    return set.build();
  }

  has({ ip }: ClientAddress): boolean {
    return NetAddress.isIpv4Address(ip)
      ? this.#ipv4.has(numberOf(NetAddress.ipv4ToOctets(ip)))
      : this.#ipv6.has(upperHalf(ip));
  }
}

class NetworkSetBuilder {
  readonly #ipv4 = { starts: new Array<number>(), ends: new Array<number>() };
  readonly #ipv6 = { starts: new Array<bigint>(), ends: new Array<bigint>() };

  add({ address, prefixLength }: IpNetwork.IpNetwork): void {
    if (NetAddress.isIpv4Address(address)) {
      this.addIpv4(numberOf(NetAddress.ipv4ToOctets(address)), prefixLength);
      return;
    }
    const first = upperHalf(address);
    this.#ipv6.starts.push(first);
    this.#ipv6.ends.push(first | ((1n << BigInt(Math.max(0, 64 - prefixLength))) - 1n));
  }

  /** Adds the network, or returns false if address bits beyond its prefix are set. */
  addIpv4(first: number, prefixLength: number): boolean {
    const hosts = 2 ** (32 - prefixLength) - 1;
    if ((first & hosts) !== 0) return false;
    this.#ipv4.starts.push(first);
    this.#ipv4.ends.push(first + hosts);
    return true;
  }

  build(): NetworkSet {
    const [ipv4, ipv6] = [this.#ipv4, this.#ipv6];
    return new NetworkSet(
      new AddressRanges(Uint32Array.from(ipv4.starts), Uint32Array.from(ipv4.ends)),
      new AddressRanges(BigUint64Array.from(ipv6.starts), BigUint64Array.from(ipv6.ends)),
    );
  }
}

const numberOf = ([first, second, third, fourth]: readonly [number, number, number, number]): number =>
  ((first << 24) | (second << 16) | (third << 8) | fourth) >>> 0;

const upperHalf = (address: NetAddress.Ipv6Address): bigint =>
  NetAddress.ipv6ToSegments(address)
    .slice(0, 4)
    .reduce((upper, segment) => (upper << 16n) | BigInt(segment), 0n);

/** Reads a list. Text after `#` is a comment. */
export const readNetworkList = (path: string): Effect.Effect<NetworkSet, DamagedFile> =>
  Effect.tryPromise({
    try: (signal) => read(path, signal),
    catch: (error) => (error instanceof DamagedFile ? error : unreadable(path, error)),
  });

const read = async (path: string, signal: AbortSignal): Promise<NetworkSet> => {
  const set = new NetworkSetBuilder();
  let number = 0;
  const take = (line: string): void => {
    number += 1;
    if (addLine(set, line)) return;
    throw new DamagedFile({
      path,
      found: `line ${number} is wrong`,
      expected: "an address or a CIDR such as 10.0.0.0/8 on each line",
    });
  };
  let begun = "";
  // Reads chunk by chunk, so that requests are answered in between.
  for await (const piece of createReadStream(path, { encoding: "utf8", signal })) {
    const lines = `${begun}${piece}`.split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) take(line);
  }
  take(begun);
  return set.build();
};

const octet = String.raw`(0|[1-9]\d{0,2})`;
const ipv4Pattern = new RegExp(`^${octet}\\.${octet}\\.${octet}\\.${octet}(?:/(\\d{1,2}))?$`);

/** Adds the network on a line. Returns whether the line is valid. */
const addLine = (set: NetworkSetBuilder, line: string): boolean => {
  const comment = line.indexOf("#");
  const text = (comment === -1 ? line : line.slice(0, comment)).trim();
  if (text === "") return true;
  // Tries IPv4 first: most lines are IPv4, and the parser of all notations takes eight times as long.
  const ipv4 = ipv4Pattern.exec(text);
  if (ipv4 !== null) return addIpv4(set, ipv4);
  const network = parseNetwork(text);
  if (Option.isSome(network)) set.add(network.value);
  return Option.isSome(network);
};

const addIpv4 = (set: NetworkSetBuilder, [, ...groups]: RegExpExecArray): boolean => {
  const prefixLength = Number(groups.pop() ?? 32);
  const octets = groups.map(Number) as [number, number, number, number];
  if (prefixLength > 32 || octets.some((value) => value > 255)) return false;
  return set.addIpv4(numberOf(octets), prefixLength);
};

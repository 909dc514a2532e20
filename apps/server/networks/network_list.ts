/** Reads lists of networks with one address or CIDR per line, the format of public lists of VPNs and data centers. */
import { createReadStream } from "node:fs";
import { type ClientAddress, parseNetwork } from "@accountlink/core/addresses";
import { Effect, Option } from "effect";
import { type IpNetwork, NetAddress } from "effect/net";
import { type AddressRanges, AddressRangesBuilder } from "./address_ranges.ts";
import { DamagedFile, unreadable } from "./damaged_file.ts";

/**
 * A set of networks. An IPv6 address counts as part of the set if the set contains any address of the same /64 network.
 */
export class NetworkSet {
  readonly #ipv4: AddressRanges;
  readonly #ipv6: AddressRanges;

  constructor(ipv4: AddressRanges, ipv6: AddressRanges) {
    this.#ipv4 = ipv4;
    this.#ipv6 = ipv6;
  }

  static of(networks: Iterable<IpNetwork.IpNetwork>): NetworkSet {
    const set = new NetworkSetBuilder();
    for (const network of networks) set.add(network);
    return set.build();
  }

  get count(): number {
    return this.#ipv4.count + this.#ipv6.count;
  }

  has({ ip }: ClientAddress): boolean {
    if (NetAddress.isIpv4Address(ip)) return this.#ipv4.has(numberOf(NetAddress.ipv4ToOctets(ip)), 0);
    const [first, second, third, fourth] = NetAddress.ipv6ToSegments(ip);
    return this.#ipv6.has(((first << 16) | second) >>> 0, ((third << 16) | fourth) >>> 0);
  }
}

class NetworkSetBuilder {
  readonly #ipv4 = new AddressRangesBuilder(1);
  readonly #ipv6 = new AddressRangesBuilder(2);

  add({ address, prefixLength }: IpNetwork.IpNetwork): void {
    if (NetAddress.isIpv4Address(address)) {
      this.addIpv4(numberOf(NetAddress.ipv4ToOctets(address)), prefixLength);
      return;
    }
    let first = 0n;
    for (const segment of NetAddress.ipv6ToSegments(address).slice(0, 4)) {
      first = (first << 16n) | BigInt(segment);
    }
    const hosts = (1n << BigInt(Math.max(0, 64 - prefixLength))) - 1n;
    this.#ipv6.addWide(first, first | hosts);
  }

  /** Adds the network, or returns false if address bits beyond its prefix are set. */
  addIpv4(first: number, prefixLength: number): boolean {
    const hosts = 2 ** (32 - prefixLength) - 1;
    if ((first & hosts) !== 0) return false;
    this.#ipv4.add(first, first + hosts);
    return true;
  }

  build(): NetworkSet {
    return new NetworkSet(this.#ipv4.build(), this.#ipv6.build());
  }
}

const numberOf = ([first, second, third, fourth]: readonly [number, number, number, number]): number =>
  ((first << 24) | (second << 16) | (third << 8) | fourth) >>> 0;

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

/** Reads lists of networks with one address or CIDR per line, the format of public lists of VPNs and data centers. */
import { createReadStream } from "node:fs";
import { type ClientAddress, parseNetwork } from "@accountlink/core/addresses";
import { Effect, Option } from "effect";
import { IpNetwork, NetAddress } from "effect/net";
import { DamagedFile, unreadable } from "./reloaded_file.ts";

/** Reads a list. Text after `#` is a comment. */
export const readNetworkList = (path: string): Effect.Effect<NetworkSet, DamagedFile> =>
  Effect.tryPromise({
    try: (signal) => read(path, signal),
    catch: (error) => (error instanceof DamagedFile ? error : unreadable(path, error)),
  });

const read = async (path: string, signal: AbortSignal): Promise<NetworkSet> => {
  const networks: Array<IpNetwork.IpNetwork> = [];
  let number = 0;
  const take = (line: string): void => {
    number += 1;
    const text = line.replace(/#.*/, "").trim();
    if (text === "") return;
    const network = Option.getOrUndefined(parseNetwork(text));
    if (network !== undefined) networks.push(network);
    else {
      throw new DamagedFile({
        path,
        found: `line ${number} is wrong`,
        expected: "an address or a CIDR such as 10.0.0.0/8 on each line",
      });
    }
  };
  let begun = "";
  // Reads small chunks, so that requests are answered in between.
  for await (const piece of createReadStream(path, { encoding: "utf8", signal, highWaterMark: 8_192 })) {
    const lines = `${begun}${piece}`.split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) take(line);
  }
  take(begun);
  return new NetworkSet(networks);
};

/**
 * A set of networks. An IPv6 address counts as part of the set if the set contains any address of the same /64 network.
 */
export class NetworkSet {
  readonly #ipv4: Networks;
  readonly #ipv6: Networks;

  constructor(networks: ReadonlyArray<IpNetwork.IpNetwork>) {
    this.#ipv4 = new Networks(networks.filter(IpNetwork.isIpv4Network), 32);
    this.#ipv6 = new Networks(networks.filter(IpNetwork.isIpv6Network), 64);
  }

  has({ ip }: ClientAddress): boolean {
    return (NetAddress.isIpv4Address(ip) ? this.#ipv4 : this.#ipv6).has(bitsOf(ip));
  }
}

/** Networks of one version of IP, which may overlap. Each takes 16 bytes. */
class Networks {
  readonly #firsts: BigUint64Array;
  readonly #lasts: BigUint64Array;

  /** @param length how many bits of an address count */
  constructor(networks: ReadonlyArray<IpNetwork.IpNetwork>, length: 32 | 64) {
    const firsts = BigUint64Array.from(networks, ({ address }) => bitsOf(address));
    const lasts = BigUint64Array.from(networks, ({ address, prefixLength }) => {
      const free = BigInt(Math.max(0, length - prefixLength));
      return bitsOf(address) | ((1n << free) - 1n);
    });
    this.#firsts = firsts.toSorted();
    this.#lasts = lasts.toSorted();
  }

  /** An address is in a network if more networks begin at or before it than end before it. */
  has(address: bigint): boolean {
    return countBelow(this.#firsts, address + 1n) > countBelow(this.#lasts, address);
  }
}

const countBelow = (sorted: BigUint64Array, limit: bigint): number => {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sorted[middle] as bigint) < limit) from = middle + 1;
    else to = middle;
  }
  return from;
};

/** Returns an IPv4 address, or the upper half of an IPv6 address. */
const bitsOf = (ip: ClientAddress["ip"]): bigint =>
  NetAddress.isIpv4Address(ip)
    ? joined(NetAddress.ipv4ToOctets(ip), 8n)
    : joined(NetAddress.ipv6ToSegments(ip).slice(0, 4), 16n);

const joined = (parts: ReadonlyArray<number>, size: bigint): bigint =>
  parts.reduce((bits, part) => (bits << size) | BigInt(part), 0n);

import { Option, Result } from "effect";
import { IpNetwork, NetAddress } from "effect/net";

export interface ClientAddress {
  readonly ip: NetAddress.IpAddress;
  /** IPv4: the whole address. IPv6: its /64, since one client holds a whole /64. */
  readonly countedAs: string;
}

const countedAs = (ip: NetAddress.IpAddress): string =>
  NetAddress.isIpv4Address(ip)
    ? NetAddress.formatIp(ip)
    : NetAddress.ipv6ToSegments(ip)
        .slice(0, 4)
        .map((segment) => segment.toString(16))
        .join(":");

/**
 * Returns the network under which security events of a client are counted: the /24 of an IPv4 address, the /64 of an
 * IPv6 address. @internal
 */
export const networkOf = ({ ip, countedAs: name }: ClientAddress): ClientAddress => ({
  ip,
  countedAs: NetAddress.isIpv4Address(ip) ? name.replace(/\d+$/, "0/24") : `${name}::/64`,
});

/** Dual-stack sockets report IPv4 as IPv6 (`::ffff:192.0.2.1`). */
const unmapped = (ip: NetAddress.IpAddress): NetAddress.IpAddress =>
  NetAddress.isIpv6Address(ip) ? Option.getOrElse(NetAddress.fromIpv4Mapped(ip), () => ip) : ip;

const maxParsed = 256;
const parsedTexts = new Map<string, Option.Option<ClientAddress>>();

/** Parses an address. Results are cached: parsing takes 2 µs, and the web handler parses an address twice. */
export const parseAddress = (text: string): Option.Option<ClientAddress> => {
  let address = parsedTexts.get(text);
  if (address === undefined) {
    address = Option.map(Result.getSuccess(NetAddress.ipFromString(text.trim())), (parsed) => {
      const ip = unmapped(parsed);
      return { ip, countedAs: countedAs(ip) };
    });
    if (parsedTexts.size >= maxParsed) parsedTexts.clear();
    parsedTexts.set(text, address);
  }
  return address;
};

/** Turns `::ffff:192.0.2.0/120` into `192.0.2.0/24`. */
const unmappedNetwork = (network: IpNetwork.IpNetwork): IpNetwork.IpNetwork =>
  NetAddress.isIpv6Address(network.address) && network.prefixLength >= 96
    ? Option.match(NetAddress.fromIpv4Mapped(network.address), {
        onNone: () => network,
        onSome: (address) => IpNetwork.fromAddressUnsafe(address, network.prefixLength - 96),
      })
    : network;

/** Parses an address or a CIDR. A single address becomes a network of one address. */
export const parseNetwork = (text: string): Option.Option<IpNetwork.IpNetwork> =>
  text.includes("/")
    ? Option.map(Result.getSuccess(IpNetwork.fromString(text.trim())), unmappedNetwork)
    : Option.map(parseAddress(text), ({ ip }) => IpNetwork.fromAddressUnsafe(ip, NetAddress.width(ip)));

/** Whether an address is in one of the networks. @internal */
export const inAny = (networks: ReadonlyArray<IpNetwork.IpNetwork>, { ip }: ClientAddress): boolean =>
  networks.some((network) => IpNetwork.contains(network, ip));

/**
 * Returns the client's address behind trusted proxies: the right-most address of `X-Forwarded-For` that is not a
 * trusted proxy. An unreadable hop ends the search at the last address that could be read.
 *
 * @param socket the address at the other end of the connection
 * @param forwardedFor the header's value, if there is one
 * @param trusted the networks of trusted proxies
 *
 * @example
 * ```ts
 * import { Option } from "effect";
 *
 * const socket = Option.getOrThrow(parseAddress("10.0.0.1"));
 * const proxies = Option.toArray(parseNetwork("10.0.0.0/8"));
 * clientAddress(socket, "203.0.113.7, 10.0.0.2", proxies).countedAs; // "203.0.113.7"
 * clientAddress(socket, "203.0.113.7", []).countedAs; // "10.0.0.1"
 * ```
 */
export const clientAddress = (
  socket: ClientAddress,
  forwardedFor: string | undefined,
  trusted: ReadonlyArray<IpNetwork.IpNetwork>,
): ClientAddress => {
  let client = socket;
  const hops = forwardedFor === undefined ? [] : forwardedFor.split(",").toReversed();
  for (const hop of hops) {
    if (!inAny(trusted, client)) break;
    const parsed = parseAddress(withoutPort(hop.trim()));
    if (Option.isNone(parsed)) break;
    client = parsed.value;
  }
  return client;
};

/** Removes the port that some proxies add: `203.0.113.7:50000`, `[2001:db8::1]:50000`. */
const withoutPort = (hop: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;

/** The allow and deny lists of a key; entries are addresses or CIDRs. */
export interface AddressLists {
  readonly allowIps: ReadonlyArray<string>;
  readonly denyIps: ReadonlyArray<string>;
}

const parsedLists = new WeakMap<ReadonlyArray<string>, ReadonlyArray<IpNetwork.IpNetwork>>();

const networksOf = (entries: ReadonlyArray<string>): ReadonlyArray<IpNetwork.IpNetwork> => {
  let networks = parsedLists.get(entries);
  if (networks === undefined) {
    networks = entries.flatMap((entry) => Option.toArray(parseNetwork(entry)));
    parsedLists.set(entries, networks);
  }
  return networks;
};

/**
 * Returns whether the lists allow an address. The deny list wins, and an empty allow list allows all. An unknown
 * address passes only if both lists are empty. @internal
 */
export const isAddressAllowed = (lists: AddressLists, address: ClientAddress | null): boolean =>
  address === null
    ? lists.denyIps.length === 0 && lists.allowIps.length === 0
    : !inAny(networksOf(lists.denyIps), address) &&
      (lists.allowIps.length === 0 || inAny(networksOf(lists.allowIps), address));

/** The addresses to which a webhook may be sent: public addresses, and addresses in networks that the operator opens. */
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { parseAddress } from "@accountlink/core/addresses";
import { type DeliveryError, WebhookUnanswered } from "@accountlink/core/webhooks";
import { Effect, Option } from "effect";
import { IpNetwork } from "effect/net";
import ipaddr from "ipaddr.js";

/** The maximum number of IP addresses to try for a host name, because DNS may return thousands. */
const mostTargets = 4;

/**
 * Resolves the host to the addresses to connect to. Fails unless every address is public or in `openNetworks`. For an
 * http URL, every address must be in `openNetworks`.
 */
export const targetsOf = (
  { protocol, hostname }: URL,
  resolveName: Resolve,
  openNetworks: ReadonlyArray<IpNetwork.IpNetwork>,
): Effect.Effect<ReadonlyArray<string>, WebhookUnanswered> => {
  const host = hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) === 0 ? resolved(host, resolveName) : Effect.succeed([host]);
  const isRight = (address: string): boolean =>
    isWithin(address, openNetworks) || (protocol === "https:" && isPublic(address));
  return Effect.flatMap(addresses, (found) => {
    if (found.length === 0) return unanswered("name");
    return found.every(isRight) ? Effect.succeed(found.slice(0, mostTargets)) : unanswered("address");
  });
};

const resolved = (host: string, resolveName: Resolve) =>
  Effect.tryPromise({
    try: () => resolveName(host),
    catch: () => new WebhookUnanswered({ error: "name" }),
  });

const unanswered = (error: Exclude<DeliveryError, "status">) => new WebhookUnanswered({ error });

/**
 * Whether the address belongs to the public internet. IPv4 inside IPv6, mapped or translated by NAT64, counts as IPv4.
 * `ipaddr.js` knows only the special IPv6 ranges in the registries, so this function also refuses every IPv6 address
 * outside the block of public addresses, 2000::/3.
 */
const isPublic = (address: string): boolean => {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === "unicast";
  const embedded = embeddedIpv4(parsed);
  if (embedded !== null) return embedded.range() === "unicast";
  return (
    parsed.match(globalUnicast) && parsed.range() === "unicast" && !("zoneId" in parsed && parsed.zoneId)
  );
};

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
const nat64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

const embeddedIpv4 = (address: ipaddr.IPv6): ipaddr.IPv4 | null =>
  address.isIPv4MappedAddress() || address.match(nat64)
    ? new ipaddr.IPv4(address.toByteArray().slice(12))
    : null;

const isWithin = (address: string, networks: ReadonlyArray<IpNetwork.IpNetwork>): boolean => {
  const parsed = Option.getOrNull(parseAddress(address));
  return parsed !== null && networks.some((network) => IpNetwork.contains(network, parsed.ip));
};

/** Resolves a name to addresses, in the order in which to try them. Rejects if the name has none. */
export type Resolve = (name: string) => Promise<ReadonlyArray<string>>;

/**
 * Limits the time of a DNS query, so that time remains to send the webhook before the deadline. `timeout` is in
 * milliseconds, and `tries` is the number of attempts at each name server.
 */
const queryOptions = { timeout: 2_000, tries: 2 };

/**
 * Resolves names by asking the system's name servers over the network, instead of calling the operating system's
 * `getaddrinfo`. Each call of `getaddrinfo` blocks one of Node's four threads. Files and cryptography need these
 * threads too, so a receiver with a silent name server would delay everything.
 */
export const resolveWith =
  (resolver: Pick<Resolver, "resolve4" | "resolve6">): Resolve =>
  async (name) => {
    if (/(?:^|\.)localhost\.?$/i.test(name)) return ["127.0.0.1", "::1"];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    // IPv4 first: on many networks, IPv6 addresses are unreachable.
    const found = [v4, v6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length === 0 && v4.status === "rejected") throw v4.reason;
    return found;
  };

/** Resolves a public name by asking the system's name servers. */
export const resolvePublic: Resolve = (name) => resolveWith(new Resolver(queryOptions))(name);

let lookingUp: Promise<unknown> = Promise.resolve();

/** Resolves a name with the operating system, one name at a time. */
const lookUp: Resolve = (name) => {
  const found = lookingUp.then(() => lookup(name, { all: true, order: "ipv4first" }));
  lookingUp = found.catch(() => {});
  return found.then((all) => all.map(({ address }) => address));
};

/**
 * Resolves a name that may be private. If the name servers do not know the name, asks the operating system, which also
 * reads its own files, such as `/etc/hosts`.
 */
export const resolvePrivate: Resolve = (name) =>
  resolvePublic(name).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTFOUND" || error.code === "ENODATA") return lookUp(name);
    throw error;
  });

import { isIP } from "node:net";
import { parseAddress } from "@accountlink/core/addresses";
import { Option } from "effect";
import { IpNetwork } from "effect/net";
import ipaddr from "ipaddr.js";

/**
 * Whether the address belongs to the public internet. IPv4 inside IPv6, mapped or translated by NAT64, counts as IPv4.
 * `ipaddr.js` knows only the special IPv6 ranges in the registries, so this function also refuses every IPv6 address
 * outside the block of public addresses, 2000::/3.
 */
export const isPublic = (address: string): boolean => {
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

export const isWithin = (address: string, networks: ReadonlyArray<IpNetwork.IpNetwork>): boolean => {
  const parsed = Option.getOrNull(parseAddress(address));
  return parsed !== null && networks.some((network) => IpNetwork.contains(network, parsed.ip));
};

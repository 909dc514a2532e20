/** Addresses, networks and origins. */
import { type ClientAddress, parseAddress } from "@accountlink/core/addresses";
import { Option } from "effect";
import { IpNetwork, NetAddress } from "effect/net";
import { type Arbitrary, constantFrom, ipV4, ipV6, nat, oneof, tuple } from "fast-check";

/** An IPv4 or IPv6 address. */
export const ip: Arbitrary<string> = oneof(ipV4(), ipV6());

/** The address of a client, as services take it. */
export const clientAddress: Arbitrary<ClientAddress> = ip.map((text) =>
  Option.getOrThrow(parseAddress(text)),
);

/** An address or a CIDR. */
export const network: Arbitrary<string> = oneof(
  ip,
  tuple(clientAddress, nat(128)).map(([{ ip: address }, length]) =>
    IpNetwork.format(IpNetwork.fromAddressUnsafe(address, length % (NetAddress.width(address) + 1))),
  ),
);

/** The origin of a redirect. */
export const redirectOrigin: Arbitrary<string> = constantFrom(
  "https://example.com",
  "https://bot.example:8443",
  "http://127.0.0.1:9999",
);

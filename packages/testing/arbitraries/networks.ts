import { Result } from "effect";
import { IpNetwork, NetAddress } from "effect/net";
import { type Arbitrary, constantFrom, ipV4, ipV6, nat, oneof, tuple } from "fast-check";

/** An IPv4 or IPv6 address as text, such as `"192.0.2.1"`. */
export const ip: Arbitrary<string> = oneof(ipV4(), ipV6());

/**
 * An address or a CIDR, such as the entries of a key's `allowIps`.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { isAddressAllowed, parseAddress, parseNetwork } from "@accountlink/core/addresses";
 * import { isOrigin } from "@accountlink/core/origin";
 * import { Option } from "effect";
 *
 * // A denied address is refused, even if it is allowed too.
 * fc.assert(
 *   fc.property(Arbitrary.ip, fc.array(Arbitrary.network), (ip, allowIps) => {
 *     const address = Option.getOrNull(parseAddress(ip));
 *     return !isAddressAllowed({ allowIps, denyIps: [ip] }, address);
 *   }),
 * );
 * fc.assert(fc.property(Arbitrary.network, (text) => Option.isSome(parseNetwork(text))));
 * fc.assert(fc.property(Arbitrary.redirectOrigin, isOrigin));
 * ```
 */
export const network: Arbitrary<string> = oneof(
  ip,
  tuple(ip, nat(128)).map(([text, length]) => {
    const address = Result.getOrThrow(NetAddress.ipFromString(text));
    return IpNetwork.format(IpNetwork.fromAddressUnsafe(address, length % (NetAddress.width(address) + 1)));
  }),
);

/** An origin to which an API key may allow redirects. */
export const redirectOrigin: Arbitrary<string> = constantFrom(
  "https://example.com",
  "https://bot.example:8443",
  "http://127.0.0.1:9999",
);

/** Reads databases in MaxMind's format (mmdb) that list addresses of VPNs. */
import { readFile } from "node:fs/promises";
import type { ClientAddress } from "@accountlink/core/addresses";
import { NetworkIntelligenceUnavailable } from "@accountlink/core/alts";
import { Effect } from "effect";
import { NetAddress } from "effect/net";
import { Reader } from "mmdb-lib";
import { DamagedFile, unreadable } from "./reloaded_file.ts";

/**
 * If one of these fields is true, at the top of a record or in its `traits`, the address belongs to a VPN. These
 * products have the fields: Anonymous IP, Insights and Enterprise of MaxMind, and Privacy Detection of IPinfo, which
 * writes the text `"true"`.
 */
const fields = [
  "is_anonymous",
  "is_anonymous_vpn",
  "is_hosting_provider",
  "is_public_proxy",
  "is_residential_proxy",
  "is_tor_exit_node",
  "vpn",
  "proxy",
  "tor",
  "relay",
  "hosting",
];

type Fields = Readonly<Record<string, unknown>>;

/** Returns whether addresses belong to VPNs. */
export const readVpnDatabase = (path: string) =>
  Effect.tryPromise({
    try: (signal) => readFile(path, { signal }),
    catch: (error) => unreadable(path, error),
  }).pipe(
    Effect.flatMap((bytes) =>
      Effect.try({
        try: () => open(bytes),
        catch: () =>
          new DamagedFile({ path, found: "its content is wrong", expected: "a database in mmdb format" }),
      }),
    ),
  );

const open = (bytes: Buffer) => {
  const reader = new Reader<Fields>(bytes);
  const { searchTreeSize, ipVersion } = reader.metadata;
  // Zeros separate the search tree from the data. The library does not notice if they are missing in a truncated file.
  const separator = bytes.subarray(searchTreeSize, searchTreeSize + 16);
  if (separator.length < 16 || separator.some((byte) => byte !== 0)) throw new Error("No data section");
  return {
    has: ({ ip }: ClientAddress) =>
      // In an IPv4 database, the library would look up the first 32 bits of an IPv6 address as an IPv4 address.
      ipVersion === 4 && NetAddress.isIpv6Address(ip)
        ? Effect.succeed(false)
        : Effect.try({
            try: () => isVpn(reader.get(NetAddress.formatIp(ip))),
            catch: (cause) =>
              new NetworkIntelligenceUnavailable({ message: "The VPN database cannot be read", cause }),
          }),
  };
};

const isVpn = (record: Fields | null): boolean =>
  record !== null && (hasField(record) || hasField((record["traits"] ?? {}) as Fields));

const hasField = (record: Fields): boolean =>
  fields.some((field) => record[field] === true || record[field] === "true");

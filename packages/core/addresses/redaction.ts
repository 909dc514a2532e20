const keyPattern = /alk_([0-9A-Za-z]{12})_[0-9A-Za-z_-]{43}/g;

const octet = "(?:25[0-5]|2[0-4]\\d|[01]?\\d?\\d)";
const ipv4 = `(?:${octet}\\.){3}${octet}(?!\\d)`;
const group = "[0-9a-fA-F]{1,4}";
const groups = `${group}(?::${group}){0,6}`;
const ipv6 = [
  `(?:${group}:){6}${ipv4}`,
  `(?:${group}:){7}${group}`,
  `(?:${groups})?::(?:(?:${group}:){0,5}${ipv4}|${groups})`,
  `${groups}::`,
].join("|");
const zone = "%[\\w%-]+(?:\\.\\w+)*";

// Addresses are found by a pattern, because the address parser cannot find where an address ends inside a text.
const addressPattern = new RegExp(
  `(?<![0-9a-zA-Z])(?:${ipv6})(?:${zone})?(?![0-9a-zA-Z])|(?<!\\d)${ipv4}`,
  "g",
);

/**
 * Replaces every IPv4 or IPv6 address, with its zone, by `[redacted]`. The unspecified address `::` stays.
 *
 * @param kept addresses with a port, such as `10.0.0.9:5432`, that stay
 */
export const redactAddresses = (text: string, kept: ReadonlyArray<string> = []): string =>
  text.replace(addressPattern, (address, at: number) =>
    kept.some(
      (endpoint) =>
        (endpoint === address || endpoint.startsWith(`${address}:`)) && isEndpointAt(text, at, endpoint),
    )
      ? address
      : "[redacted]",
  );

const isEndpointAt = (text: string, at: number, endpoint: string): boolean =>
  text.startsWith(endpoint, at) && !/^\d/.test(text.slice(at + endpoint.length));

/** @internal */
export const redactKeys = (text: string): string => text.replace(keyPattern, "alk_$1_…");

/**
 * @param kept addresses with a port, such as `10.0.0.9:5432`, that stay
 * @internal
 */
export const redact = (text: string, kept: ReadonlyArray<string> = []): string =>
  redactAddresses(redactKeys(text), kept);

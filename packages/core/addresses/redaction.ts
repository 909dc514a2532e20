/** Takes keys and addresses out of text that goes to a log or an answer. */

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

// A pattern, not the parser of addresses: in a text it is not known where one ends.
const addressPattern = new RegExp(
  `(?<![0-9a-zA-Z])(?:${ipv6})(?:${zone})?(?![0-9a-zA-Z])|(?<!\\d)${ipv4}`,
  "g",
);

/** Replaces every IPv4 or IPv6 address by `[redacted]`, its zone too. The address `::` of nobody stays. */
export const redactAddresses = (text: string): string => text.replace(addressPattern, "[redacted]");

/**
 * Replaces every API key by its masked form.
 *
 * @internal
 */
export const redactKeys = (text: string): string => text.replace(keyPattern, "alk_$1_…");

/**
 * Replaces every API key by its masked form and every address by `[redacted]`.
 *
 * @internal
 */
export const redact = (text: string): string => redactAddresses(redactKeys(text));

/**
 * Takes keys and addresses out of text that goes to a log or an answer.
 */
import { Option } from "effect";
import { parseAddress } from "./client_address.ts";

const keyPattern = /alk_([0-9A-Za-z]{12})_[0-9A-Za-z_-]{43}/g;
const addressPattern = /(?<![\w.:])[0-9a-fA-F:.]{3,45}(?![\w:])/g;

/**
 * Replaces every IPv4 or IPv6 address by `[redacted]`.
 *
 * @example
 * ```ts
 * redactAddresses("no answer from 203.0.113.7:443"); // "no answer from [redacted]:443"
 * ```
 */
export const redactAddresses = (text: string): string =>
  text.replace(addressPattern, (candidate) => {
    const port = /^(\d+\.\d+\.\d+\.\d+)(:\d+)?(\.?)$/.exec(candidate);
    const address = port?.[1] ?? candidate.replace(/\.$/, "");
    return Option.isSome(parseAddress(address)) ? candidate.replace(address, "[redacted]") : candidate;
  });

/**
 * Replaces every API key by its masked form.
 *
 * @example
 * ```ts
 * redactKeys(`wrong key alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)}`); // "wrong key alk_Aa0Bb1Cc2Dd3_…"
 * ```
 */
export const redactKeys = (text: string): string => text.replace(keyPattern, "alk_$1_…");

/**
 * Replaces every API key by its masked form and every address by `[redacted]`.
 *
 * @example
 * ```ts
 * redact(`wrong key alk_Aa0Bb1Cc2Dd3_${"x".repeat(43)} from 203.0.113.7`); // "wrong key alk_Aa0Bb1Cc2Dd3_… from [redacted]"
 * ```
 */
export const redact = (text: string): string => redactAddresses(redactKeys(text));

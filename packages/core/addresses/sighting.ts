/**
 * Sightings: a chat user of a scope was seen at an address. The address itself is never stored in the clear.
 */
import type { ChatId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** An address as it is stored. */
export interface ProtectedAddress {
  /** Keyed hash of what the address counts as (IPv6: its /64), for matching. Base64url. */
  readonly hash: string;
  /** The address, encrypted and authenticated. Base64url. */
  readonly sealed: string;
  /** Which of the deployment's address keys both were made with. */
  readonly addressKeyId: string;
}

/** One chat user at one address; of several times only the last is kept. */
export interface Sighting {
  readonly chatId: ChatId;
  readonly address: ProtectedAddress;
  readonly seenAt: Millis;
}

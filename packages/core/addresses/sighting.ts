/**
 * A sighting records that a chat user of a scope was seen at an address or in a browser. Addresses are stored
 * encrypted. A browser is identified by a random mark in its cookie, and only a hash of the mark is stored.
 */
import type { ChatId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

export interface ProtectedAddress {
  /** A keyed hash of the IPv4 address, or of the /64 of the IPv6 address, by which addresses are matched. Base64url. */
  readonly hash: string;
  /** The encrypted and authenticated address. Base64url. */
  readonly sealed: string;
  /** The address key that made the hash and encrypted the address. */
  readonly addressKeyId: string;
}

/** One chat user at one address. Only the last sighting is kept. */
export interface AddressSighting {
  readonly chatId: ChatId;
  readonly address: ProtectedAddress;
  readonly seenAt: Millis;
}

/** One chat user in one browser. Only the last sighting is kept. */
export interface BrowserSighting {
  readonly chatId: ChatId;
  /** Keyed hash of the random mark in the browser's cookie. Base64url. */
  readonly browser: string;
  readonly seenAt: Millis;
}

export type Sighting = AddressSighting | BrowserSighting;

/** @internal */
export const isAtAddress = <S extends Sighting>(sighting: S): sighting is Extract<S, AddressSighting> =>
  "address" in sighting;

/** @internal */
export const isInBrowser = <S extends Sighting>(sighting: S): sighting is Extract<S, BrowserSighting> =>
  "browser" in sighting;

/**
 * Returns the hash of the address or browser. Together with the scope and the chat user it identifies a sighting.
 * @internal
 */
export const placeOf = (sighting: Sighting): string =>
  isAtAddress(sighting) ? sighting.address.hash : sighting.browser;

/**
 * Returns the strings that a store keeps for a sighting: the fields of the protected address, or the browser's hash.
 * @internal
 */
export const textsOf = (sighting: Sighting): ReadonlyArray<string> =>
  isAtAddress(sighting) ? Object.values(sighting.address) : [sighting.browser];

/**
 * Creates the sightings of a chat user: at the address, in the browser, or both, as far as they are known. @internal
 */
export const sightingsOf = (seen: {
  readonly chatId: ChatId;
  readonly address: ProtectedAddress | null;
  readonly browser: string | null;
  readonly at: Millis;
}): ReadonlyArray<Sighting> => {
  const { chatId, address, browser, at: seenAt } = seen;
  return [
    ...(address === null ? [] : [{ chatId, address, seenAt }]),
    ...(browser === null ? [] : [{ chatId, browser, seenAt }]),
  ];
};

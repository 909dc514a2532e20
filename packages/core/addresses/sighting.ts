/**
 * Sightings: a chat user of a scope was seen at an address, or in a browser. The address itself is never stored in the
 * clear, and the mark of the browser not at all.
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
export interface AddressSighting {
  readonly chatId: ChatId;
  readonly address: ProtectedAddress;
  readonly seenAt: Millis;
}

/** One chat user in one browser; of several times only the last is kept. */
export interface BrowserSighting {
  readonly chatId: ChatId;
  /** Keyed hash of the mark of the browser. Base64url. */
  readonly browser: string;
  readonly seenAt: Millis;
}

export type Sighting = AddressSighting | BrowserSighting;

/** Tells sightings at an address from those in a browser. */
export const isAtAddress = <S extends Sighting>(sighting: S): sighting is Extract<S, AddressSighting> =>
  "address" in sighting;

/** Tells sightings in a browser from those at an address. */
export const isInBrowser = <S extends Sighting>(sighting: S): sighting is Extract<S, BrowserSighting> =>
  "browser" in sighting;

/**
 * The hash of where the chat user was seen. With the scope and the chat user it identifies a sighting.
 *
 * @example
 * ```ts
 * import { ChatId } from "@accountlink/core";
 *
 * const address = { hash: "h", sealed: "s", addressKeyId: "2026" };
 * const visit = { chatId: ChatId.make("100001"), at: 1 };
 * const seen = sightingsOf({ ...visit, address, browser: "b" });
 * seen.map(placeOf); // ["h", "b"]
 * seen.map(isAtAddress); // [true, false]
 * seen.map(isInBrowser); // [false, true]
 * seen.flatMap(textsOf); // ["h", "s", "2026", "b"]
 * ```
 */
export const placeOf = (sighting: Sighting): string =>
  isAtAddress(sighting) ? sighting.address.hash : sighting.browser;

/** What is stored of a sighting, apart from the chat user and the time. */
export const textsOf = (sighting: Sighting): ReadonlyArray<string> =>
  isAtAddress(sighting) ? Object.values(sighting.address) : [sighting.browser];

/** What is stored when a chat user was seen: where that is known. */
export const sightingsOf = ({
  chatId,
  address,
  browser,
  at,
}: {
  readonly chatId: ChatId;
  readonly address: ProtectedAddress | null;
  readonly browser: string | null;
  readonly at: Millis;
}): ReadonlyArray<Sighting> => [
  ...(address === null ? [] : [{ chatId, address, seenAt: at }]),
  ...(browser === null ? [] : [{ chatId, browser, seenAt: at }]),
];

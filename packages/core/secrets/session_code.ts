/**
 * Users who cannot open a link, such as players inside a game, type the code of a session. The code is derived from the
 * sid and never stored. Stores have a keyed hash of the code, and the sid encrypted under the code.
 */

/** The characters of codes: no vowels, and none that look alike. */
const alphabet = "23456789BCDFGHJKMNPQRSTVWXZ";

const length = 8;

const form = new RegExp(`^[${alphabet}]{${length}}$`);

export interface StoredCode {
  readonly hash: string;
  readonly sealedSid: string;
}

/**
 * Returns the code for a number.
 *
 * @param number evenly distributed over 64 bits
 */
export const codeOfNumber = (number: bigint): string => {
  let text = "";
  for (let rest = number; text.length < length; rest /= BigInt(alphabet.length)) {
    text = `${alphabet[Number(rest % BigInt(alphabet.length))]}${text}`;
  }
  return `${text.slice(0, 4)}-${text.slice(4)}`;
};

/** Normalizes a typed code; null if it cannot be a code. Case, spaces and dashes do not matter. */
export const readCode = (typed: string): string | null => {
  const text = typed.replace(/[\s\p{Pd}_.]/gu, "").toUpperCase();
  return form.test(text) ? `${text.slice(0, 4)}-${text.slice(4)}` : null;
};

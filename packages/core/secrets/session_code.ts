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

/** Spaces, dashes and marks that keyboards and chats put between characters: also the Japanese ー, a minus, soft hyphens. */
const between = /[\s\p{Pd}\p{Cf}_.~·•ー−˗⁃]/gu;

/**
 * Normalizes a typed code; null if it cannot be a code. Case, spaces and dashes do not matter, nor does whether the
 * keyboard writes full width or the digits of another script.
 */
export const readCode = (typed: string): string | null => {
  const text = typed
    .normalize("NFKC")
    .replace(between, "")
    .replace(/(?![0-9])\p{Nd}/gu, digitOf)
    .toUpperCase();
  return form.test(text) ? `${text.slice(0, 4)}-${text.slice(4)}` : null;
};

/** Returns the ASCII digit for a digit of another script. Unicode lists the digits of each script in order, from 0. */
const digitOf = (digit: string): string => {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - value - 1))) value++;
  return String(value);
};

/**
 * The codes of sessions, for users who cannot open a link, in a game for instance. A code is
 * determined by the sid, and is not stored: stores have a keyed hash of it, and the sid encrypted
 * under it.
 */

/** Without vowels and characters that look alike. */
const alphabet = "23456789BCDFGHJKMNPQRSTVWXZ";

const length = 8;

const form = new RegExp(`^[${alphabet}]{${length}}$`);

/** A code of a session as the store has it. */
export interface StoredCode {
  /** A keyed hash of the code. */
  readonly hash: string;
  /** The sid, encrypted under the code. */
  readonly sealedSid: string;
}

/**
 * The code that a number stands for.
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

/** A code as typed, in its form; null if it can be none. Letter case, spaces and dashes do not matter. */
export const readCode = (typed: string): string | null => {
  const text = typed.replace(/[\s\p{Pd}_.]/gu, "").toUpperCase();
  return form.test(text) ? `${text.slice(0, 4)}-${text.slice(4)}` : null;
};

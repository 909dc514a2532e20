/** Texts that sort as the tuples that they stand for. */
import { assertStorable } from "@accountlink/core/storable_text";
import type { Range } from "./kv.ts";

type Part = string | number;

/** A tuple of texts and whole numbers. */
export type Tuple = ReadonlyArray<Part>;

const digits = 16;

/** A part is followed by a space, which sorts before all characters of parts, so a prefix sorts before longer parts. */
export const encode = (tuple: Tuple): string => {
  let key = "";
  for (const part of tuple) key += `${typeof part === "number" ? numberText(part) : escaped(part)} `;
  return key;
};

const numberText = (number: number): string => {
  const bounded = Math.min(Math.max(number, -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  return bounded < 0
    ? `-${String(Number.MAX_SAFE_INTEGER + bounded).padStart(digits, "0")}`
    : String(bounded).padStart(digits, "0");
};

/**
 * Escapes every character that is not printable ASCII between the characters that begin an escape, which sort first and
 * last. Throws for text that other stores could not look up.
 */
const escaped = (text: string): string => {
  if (needsNoEscape.test(text)) return text;
  assertStorable([text]);
  return text.replace(/[^\x22-\x7d]/gu, escape);
};

const needsNoEscape = /^[\x22-\x7d]*$/;

const escape = (character: string): string => {
  const code = character.codePointAt(0) as number;
  return code < 0x22 ? `!${code.toString(16).padStart(2, "0")}` : `~${code.toString(16).padStart(6, "0")}`;
};

/** Returns the last part of a key, a number as its text. */
export const lastOf = (key: string): string =>
  unescaped(key.slice(key.lastIndexOf(" ", key.length - 2) + 1, -1));

const unescaped = (text: string): string =>
  /[!~]/.test(text)
    ? text.replace(/!(..)|~(.{6})/g, (_, short?: string, long?: string) =>
        String.fromCodePoint(Number.parseInt(short ?? long ?? "", 16)),
      )
    : text;

/** Returns the end of the range of all keys with a prefix that `encode` made. */
const endOf = (prefix: string): string => `${prefix.slice(0, -1)}!`;

/** Bounds of a range below a prefix. */
export interface Bounds {
  /** Begins with this tuple. */
  readonly from?: Tuple | undefined;
  /** Begins after this tuple and all tuples that begin with it. */
  readonly after?: Tuple | undefined;
  /** Ends before this tuple. */
  readonly before?: Tuple | undefined;
}

export const rangeOf = (name: string, prefix: Tuple, { from, after, before }: Bounds = {}): Range => {
  const all = encode([name, ...prefix]);
  return {
    start: after === undefined ? all + encode(from ?? []) : endOf(all + encode(after)),
    end: before === undefined ? endOf(all) : all + encode(before),
  };
};

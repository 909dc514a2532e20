/**
 * Texts that a faulty store would change, for example by escaping, trimming, changing case, truncating or normalizing.
 *
 * @example
 * ```ts
 * import { isStorable } from "@accountlink/core/storable_text";
 *
 * hostileTexts.every(isStorable); // true
 * unstorableTexts.some(isStorable); // false
 * ```
 */
export const hostileTexts: ReadonlyArray<string> = [
  "",
  "'; DROP TABLE links; --",
  `" OR ""="`,
  "\\'; \\\" \\0 \\u0000 \\",
  "`$(id)` ${id} {{id}} %s %_ ? $1 :name @p",
  "NULL",
  "null",
  "0123",
  "1e3",
  '{"a":[1]}',
  "trailing ",
  " leading",
  "\t tab \r\n lines \n",
  "\u0001\u001F\u007F",
  "case",
  "CASE",
  "\u00E9",
  "e\u0301",
  "\u{1F469}\u200D\u{1F680}",
  "\uFEFF\u200B\u202E",
  "\uFFFD",
  "\u2028\u2029",
  "x".repeat(10_000),
];

/** Texts that some databases cannot store, so that every store must refuse them. */
export const unstorableTexts: ReadonlyArray<string> = ["a\0b", "\0", "\uD83D", "\uDE80 first", "last \uD83D"];

/**
 * Text that every store returns unchanged. SQLite would change a lone surrogate, and Postgres refuses NUL. @internal
 */
import { Schema } from "effect";

/** Returns whether the text has neither NUL nor a lone surrogate. Stores treat other text as a defect. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

/** Replaces the parts of a text that are not storable. */
export const toStorable = (text: string): string => text.toWellFormed().replaceAll("\0", "\uFFFD");

/** Returns whether the text is storable and within a length in Unicode code points, as JSON Schema counts. */
export const isStorableUpTo = (longest: number, text: string): boolean =>
  isStorable(text) && Array.from(text).length <= longest;

/**
 * Throws a `TypeError` for the first text that is not storable. Every store calls it, even one that could store more
 * texts, so that all stores accept the same texts.
 */
export const assertStorable = (texts: Iterable<string>): void => {
  for (const text of texts) {
    if (!isStorable(text)) {
      throw new TypeError(`Cannot store ${JSON.stringify(text)}, expected well-formed text without NUL`);
    }
  }
};

/**
 * A schema check for storable text. The pattern in its JSON Schema excludes only NUL, because validators without the
 * `u` flag would misread a pattern that also excludes lone surrogates.
 */
export const storable = Schema.makeFilter(isStorable, {
  expected: "well-formed text without NUL",
  toJsonSchema: () => ({ pattern: "^[^\\u0000]*$" }),
});

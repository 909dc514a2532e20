/**
 * Text that every store can hold and give back unchanged. SQLite would store a lone surrogate as
 * another text, and Postgres takes no NUL.
 */
import { Schema } from "effect";

/** Whether the text has neither NUL nor a lone surrogate. Stores treat any other text as a defect. */
export const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();

/**
 * Whether the text is storable and has at most so many characters: Unicode code points, as JSON Schema counts them.
 *
 * @internal
 */
export const isStorableUpTo = (longest: number, text: string): boolean =>
  isStorable(text) && Array.from(text).length <= longest;

/**
 * Throws a `TypeError` for the first text that is not storable. Every store calls it, also one that
 * could hold more: what works on one store works on all.
 *
 * @example
 * ```ts
 * assertStorable(["ada", "Ada 🎮"]);
 * ```
 */
export const assertStorable = (texts: Iterable<string>): void => {
  for (const text of texts) {
    if (!isStorable(text)) {
      throw new TypeError(`Cannot store ${JSON.stringify(text)}, expected well-formed text without NUL`);
    }
  }
};

/**
 * The check of a schema that takes storable text only. Its JSON Schema says nothing of surrogates:
 * validators without the `u` flag would read that pattern as another.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const Name = Schema.String.check(storable);
 * Schema.is(Name)("nul \0"); // false
 * ```
 */
export const storable = Schema.makeFilter(isStorable, {
  expected: "well-formed text without NUL",
  toJsonSchema: () => ({ pattern: "^[^\\u0000]*$" }),
});

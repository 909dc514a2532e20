/**
 * Web origins, to which a verification flow may send its user back.
 */

/** How many characters the address may have that a user is sent back to. */
export const longestRedirect = 2_048;

/**
 * Whether the text is an http or https origin, with nothing after it.
 *
 * @example
 * ```ts
 * import { isOrigin } from "@accountlink/core";
 *
 * isOrigin("https://example.com"); // true
 * isOrigin("https://example.com/"); // false
 * ```
 */
export const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

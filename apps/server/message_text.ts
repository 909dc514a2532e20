/** Text that is safe to print. */

/**
 * Escapes the characters that move the cursor or change the text direction, except line ends. JSON has
 * the same escapes, so an escaped JSON text keeps its meaning.
 */
export const printable = (text: string): string =>
  text.replace(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escaped);

export const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Texts for messages: the reason of an error, and text that is safe to print. */
import { Predicate } from "effect";

/**
 * Escapes the characters that move the cursor or change the text direction, except line ends. JSON has
 * the same escapes, so an escaped JSON text keeps its meaning.
 */
export const printable = (text: string): string =>
  text.replace(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escaped);

export const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The message of the innermost cause, which is an error of the database, the file system or the network. */
export const reasonOf = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined;
  return Predicate.hasProperty(cause, "message") ? reasonOf(cause) : messageOf(error);
};

const messageOf = (error: unknown): string => (ownMessage(error) === "" ? String(error) : ownMessage(error));

/** The message of the error itself, without its causes; empty if the error has none. */
export const ownMessage = (error: unknown): string =>
  Predicate.hasProperty(error, "message") ? String(error.message) : "";

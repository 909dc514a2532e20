/** User names of games, which are the text that a game says they are. */
import { isStorable } from "../storable_text.ts";

/** The most characters of a user name, in Unicode code points. @internal */
export const longestUsername = 100;

/** Returns whether a text can be a user name: 1 to 100 characters, no control characters. @internal */
export const isUsername = (text: string): boolean =>
  text !== "" && isStorable(text) && !/\p{Cc}/u.test(text) && Array.from(text).length <= longestUsername;

const folded = (name: string): string => name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");

/** Whether two user names are one in any letter case. @internal */
export const isSameUsername = (one: string, other: string): boolean => folded(one) === folded(other);

/**
 * Returns the user names that a typed text can mean: itself, and without a `@` before it, as many platforms show names.
 * None if the text cannot be a user name. @internal
 */
export const usernamesMeant = (typed: string): ReadonlyArray<string> => {
  const name = typed.trim().normalize("NFC");
  return [...new Set([name, name.replace(/^@/u, "")])].filter(isUsername);
};

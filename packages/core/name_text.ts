/**
 * Names are entered by users and read by others. A control character or a direction override in a name would change how
 * the surrounding text looks. @internal
 */
import { Schema } from "effect";
import { isStorable } from "./storable_text.ts";

/** U+202A to U+202E and U+2066 to U+2069 set the direction of the following text. */
const unfit = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;

/** Describes names that `isNameText` accepts, for error messages. */
export const expectedNameText = "well-formed text without control characters and direction overrides";

/** Returns whether the text can be part of a name: storable, without control characters and direction overrides. */
export const isNameText = (text: string): boolean => isStorable(text) && !unfit.test(text);

/** Describes names that `isVisibleName` accepts, for error messages. */
export const expectedVisibleName = `${expectedNameText}, at least one character visible, none of zero width`;

/**
 * Zero-width and other format characters, with which two names would look alike. Emoji and some scripts need the joiners
 * U+200C and U+200D, the marks U+200E and U+200F and variation selectors.
 */
const hidden = /[\u00AD\u180E\u200B\u2028\u2029\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/u;

/** Returns whether the text can be a new name, which readers have to see. */
export const isVisibleName = (text: string): boolean =>
  isNameText(text) && isVisible(text) && !hidden.test(text);

/** Returns the text without characters that cannot be part of a name. */
export const toNameText = (text: string): string =>
  text.toWellFormed().replaceAll(new RegExp(unfit, "gu"), "");

export const nameText = Schema.makeFilter(isNameText, {
  expected: expectedNameText,
  toJsonSchema: () => ({ pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$" }),
});

/** A text that others read, such as a name: of 1 to `most` characters, at least one of them visible. */
export const visibleText = (most: number) =>
  Schema.String.check(
    Schema.isMinCodePoints(1),
    Schema.isMaxCodePoints(most),
    nameText,
    Schema.makeFilter(isVisible, { expected: "visible text" }),
  );

/** A new name, of 1 to `most` characters. */
export const newName = (most: number) =>
  visibleText(most).check(Schema.makeFilter(isVisibleName, { expected: "a name" }));

interface NamedAccount {
  readonly displayName: string | null;
  readonly username: string | null;
}

/** The display name or user name of an account; null if unknown or invisible, because a link needs visible text. */
export const visibleName = (profile: NamedAccount | null | undefined): string | null =>
  [profile?.displayName, profile?.username].find((name) => isVisible(name ?? "")) ?? null;

const { compare } = new Intl.Collator("en");

/** Sorts names for readers; unknown names come last. */
export const compareNames = (one: string | null, other: string | null): number =>
  Number(one === null) - Number(other === null) || compare(one ?? "", other ?? "");

/** Some letters, such as the Hangul fillers, are blank. */
const isVisible = (name: string): boolean => /[^\s\p{C}\p{M}\u115F\u1160\u2800\u3164\uFFA0]/u.test(name);

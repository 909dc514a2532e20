import { Schema } from "effect";
import { expectedNameText, isNameText, toNameText } from "../name_text.ts";

const longestTemplate = 100;
const longestNickname = 32;

const groupRole = "{group.role}";

/** The names of a member on both platforms. Unavailable names are null. */
export interface MemberNames {
  readonly game: { readonly username: string | null; readonly displayName: string | null };
  readonly chat: { readonly username: string | null; readonly displayName: string | null };
  /** The name of the member's rank in the plan's group; empty outside of the group. */
  readonly groupRole: string;
}

// A user without a display name is named by the user name, as on the platforms.
const placeholders: Readonly<Record<string, (names: MemberNames) => string | null>> = {
  "{game.username}": ({ game }) => game.username,
  "{game.displayName}": ({ game }) => game.displayName ?? game.username,
  "{chat.username}": ({ chat }) => chat.username,
  "{chat.displayName}": ({ chat }) => chat.displayName ?? chat.username,
  [groupRole]: (names) => names.groupRole,
};

const placeholderPattern = /\{[^{}]*\}/gu;

/** A rank in brackets, which are left out with it. */
const bracketedRank = /\[\{group\.role\}\]|\(\{group\.role\}\)/gu;

const form = `1 to ${longestTemplate} characters with ${Object.keys(placeholders).join(", ")}; ${expectedNameText}`;

/** The expected form of a template, for error messages. @internal */
export const expectedTemplate = `expected null or ${form}`;

const isTemplate = (text: string): boolean =>
  isNameText(text) &&
  text.trim() !== "" &&
  [...text.matchAll(placeholderPattern)].every(([placeholder]) => Object.hasOwn(placeholders, placeholder));

/** The schema of a nickname template, such as `{game.username}`. @internal */
export const NicknameTemplate = Schema.String.check(
  Schema.isMaxCodePoints(longestTemplate),
  Schema.makeFilter(isTemplate, { expected: form }),
);

/** Returns whether a template needs the profile of the game user. @internal */
export const namesGame = (template: string | null): boolean => template?.includes("{game.") === true;

/** Returns whether a template needs the rank of the game user in a group. @internal */
export const namesGroupRole = (template: string | null): boolean => template?.includes(groupRole) === true;

/**
 * Fills in a template and cuts the result to 32 characters. Null if a name is unavailable or nothing is left. @internal
 */
export const nicknameOf = (template: string, names: MemberNames): string | null => {
  let isComplete = true;
  const shown = names.groupRole === "" ? template.replaceAll(bracketedRank, "") : template;
  const filled = shown.replaceAll(placeholderPattern, (placeholder) => {
    const name = placeholders[placeholder]?.(names) ?? null;
    if (name === null) isComplete = false;
    return name ?? "";
  });
  const text = toNameText(filled.replaceAll(/\s+/gu, " ")).trim();
  const cut = Array.from(text).slice(0, longestNickname).join("").trim();
  return isComplete && cut !== "" ? cut : null;
};

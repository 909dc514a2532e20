/** The settings of a scope: what it says to users who verify, and who may link. */
import { Schema, Struct } from "effect";
import type { DataScope } from "./data_scope.ts";
import { newName, visibleText } from "./name_text.ts";
import { chosen, switched, unsetOf } from "./settings.ts";
import { isStorable } from "./storable_text.ts";

const mostAgeDays = 3_650;

/** How many days old an account must be to link in the verification flow. */
const age = (platform: "chat" | "game") =>
  chosen(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: mostAgeDays })),
    { is: "whole_number", least: 0, most: mostAgeDays },
    `How many days old an account on the ${platform} platform must be to link; null for no rule`,
  );

const longestSupportUrl = 2_000;

/** Matches an https URL without user info, white space and characters that change how the text is displayed. */
const httpsUrl = /^https:\/\/[^\s\p{Cc}\p{Bidi_C}/?#\\@]+(?:[/?#][^\s\p{Cc}\p{Bidi_C}]*)?$/iu;

const isHttpsUrl = (text: string): boolean => URL.canParse(text) && httpsUrl.test(text) && isStorable(text);

/** The rows of `ScopeSettings`. @internal */
export const scopeSettings = {
  displayName: chosen(
    newName(80),
    { is: "text_or_null", most: 80 },
    "Who asks users for their accounts; null for the account's name",
  ),
  supportUrl: chosen(
    Schema.String.check(
      Schema.isMaxCodePoints(longestSupportUrl),
      Schema.makeFilter(isHttpsUrl, { expected: "an https URL" }),
    ),
    { is: "https", most: longestSupportUrl },
    "URL where users get help; null for none",
  ),
  doneText: chosen(
    visibleText(300),
    { is: "text_or_null", most: 300 },
    "What users should do once they are linked; null for nothing",
  ),
  minGameAgeDays: age("game"),
  minChatAgeDays: age("chat"),
  freshProof: switched(
    false,
    "Whether users prove their game account here, although they have proven it to another community",
  ),
  oneChatUser: switched(false, "Whether a game account has at most one chat user; links that are there stay"),
};

/** What a scope's owner says to users who verify, and who may link. Texts and ages are null if the owner has not set them. */
export type ScopeSettings = typeof noSettings;

/** @internal */
export const noSettings = unsetOf(scopeSettings);

/** The settings that are texts of the owner, each unset. @internal */
export const noTexts = Struct.pick(noSettings, ["displayName", "supportUrl", "doneText"]);

export interface ConfiguredScope {
  readonly scope: DataScope;
  readonly settings: ScopeSettings;
}

/** The fields of rules, as forms and the command line have them. */
import { Schema } from "effect";
import { Digits } from "../ids.ts";
import { ItemKind } from "../platforms/game_platform.ts";

const highestRank = 999_999_999;

/** The most days that a rule can ask an account to exist. @internal */
export const mostDays = 36_500;

/** The most days without a link that a rule can ask for. @internal */
export const mostUnlinkedDays = 365;

const isWhole = (text: string, least: number, most: number): boolean =>
  /^\d{1,9}$/u.test(text) && Number(text) >= least && Number(text) <= most;

const rank = {
  maxLength: 9,
  expected: "rank",
  isValid: (text: string) => text === "" || isWhole(text, 0, highestRank),
} as const;

/**
 * The fields of rules as people type them. `name` is the name in a form, and `expected` the code of what the field
 * expects. @internal
 */
export const ruleFields = {
  days: {
    name: "for",
    maxLength: 3,
    expected: "minDays",
    isValid: (text: string) => text === "" || isWhole(text, 1, mostUnlinkedDays),
  },
  roleId: { name: "has", maxLength: 32, expected: "role", isValid: Schema.is(Digits) },
  groupId: { name: "group", maxLength: 300, expected: "groupId", isValid: Schema.is(Digits) },
  minRank: { name: "min", ...rank },
  maxRank: { name: "max", ...rank },
  itemId: { name: "item", maxLength: 300, expected: "itemId", isValid: Schema.is(Digits) },
  itemKind: { name: "kind", maxLength: 32, expected: "itemKind", isValid: Schema.is(ItemKind) },
  minDays: {
    name: "days",
    maxLength: 5,
    expected: "minDays",
    isValid: (text: string) => isWhole(text, 1, mostDays),
  },
} as const;

export type RuleField = keyof typeof ruleFields;

/** The values of a rule's fields as typed. @internal */
export type TypedFields = Readonly<Record<RuleField, string>>;

/** The fields that kinds of rules show together, by the name of their part of the form. @internal */
export const ruleParts = {
  wait: ["days"],
  role: ["roleId"],
  group: ["groupId", "minRank", "maxRank"],
  kind: ["itemKind"],
  item: ["itemId"],
  age: ["minDays"],
} as const satisfies Readonly<Record<string, ReadonlyArray<RuleField>>>;

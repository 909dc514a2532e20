/** The fields of rules, as forms and the command line have them. */
import { Schema } from "effect";
import { Digits } from "../ids.ts";
import { ItemKind } from "../platforms/game_platform.ts";

const highestRank = 999_999_999;

/** The most days that a rule can ask an account to exist. @internal */
export const mostDays = 36_500;

const isWhole = (text: string, least: number, most: number): boolean =>
  /^\d{1,9}$/u.test(text) && Number(text) >= least && Number(text) <= most;

const rankField = (label: string) => ({
  label,
  hint: "Empty: any.",
  maxLength: 9,
  expected: "expected a whole number, 0 or more",
  isValid: (text: string) => text === "" || isWhole(text, 0, highestRank),
});

/** The fields of rules as people type them. `name` is the name in a form. @internal */
export const ruleFields = {
  groupId: {
    name: "group",
    label: "Group",
    hint: "Its ID or its address.",
    maxLength: 300,
    expected: "expected the ID or the address of a group",
    isValid: Schema.is(Digits),
  },
  minRank: { name: "min", ...rankField("Lowest rank") },
  maxRank: { name: "max", ...rankField("Highest rank") },
  itemId: {
    name: "item",
    label: "Item",
    hint: "Its ID or its address.",
    maxLength: 300,
    expected: "expected the ID or the address of the item",
    isValid: Schema.is(Digits),
  },
  itemKind: {
    name: "kind",
    label: "Kind of item",
    hint: "As the game calls it.",
    maxLength: 32,
    expected: "expected the name of a kind of items",
    isValid: Schema.is(ItemKind),
  },
  minDays: {
    name: "days",
    label: "Days",
    hint: "How old the account is at least.",
    maxLength: 5,
    expected: "expected a number of days",
    isValid: (text: string) => isWhole(text, 1, mostDays),
  },
} as const;

export type RuleField = keyof typeof ruleFields;

/** The values of a rule's fields as typed. @internal */
export type TypedFields = Readonly<Record<RuleField, string>>;

/** The fields that kinds of rules show together, by the name of their part of the form. @internal */
export const ruleParts = {
  group: ["groupId", "minRank", "maxRank"],
  kind: ["itemKind"],
  item: ["itemId"],
  age: ["minDays"],
} as const satisfies Readonly<Record<string, ReadonlyArray<RuleField>>>;

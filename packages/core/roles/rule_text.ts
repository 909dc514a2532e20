/** How the command line writes the conditions of rules. */
import { Option } from "effect";
import type { RuleField } from "./rule_fields.ts";
import {
  allOf,
  conditionsIn,
  decodeCondition,
  kindOf,
  mostCombined,
  noFields,
  type PlainCondition,
  plainOf,
  type RoleCondition,
  rowOf,
  ruleKindNames,
  type SingleCondition,
} from "./rule_kinds.ts";

const placeholder = /<(\w+)>/gu;

const patterns = ruleKindNames.flatMap((name) =>
  rowOf(name).forms.map((form) => ({
    name,
    pattern: new RegExp(
      `^${form.replaceAll(placeholder, (_, field: string) =>
        field === "itemKind" ? String.raw`(?<itemKind>[a-z][\w-]{0,31})` : String.raw`(?<${field}>\d{0,32})`,
      )}$`,
      "u",
    ),
  })),
);

/** The forms in which the command line writes conditions. @internal */
export const conditionForms: ReadonlyArray<string> = ruleKindNames.flatMap((name) => rowOf(name).forms);

/** Before a condition whose opposite is meant. */
const not = "!";

const parseSingle = (text: string): Option.Option<SingleCondition> =>
  text.startsWith(not)
    ? Option.map(parsePlain(text.slice(not.length)), (of) => ({ is: "not", of }))
    : parsePlain(text);

const parsePlain = (text: string): Option.Option<PlainCondition> => {
  for (const { name, pattern } of patterns) {
    const found = pattern.exec(text);
    if (found !== null) return decodeCondition(rowOf(name).untyped({ ...noFields, ...found.groups }));
  }
  return Option.none();
};

/** Between the conditions that a rule combines. */
const and = "&";

/**
 * Reads a condition as the command line writes it, such as `group:9:100-255`, its opposite, such as `!group:9`, or
 * several that all have to be met, such as `proven&gamepass:55`. @internal
 */
export const parseCondition = (text: string): Option.Option<RoleCondition> =>
  Option.flatMap(Option.all(text.split(and).map(parseSingle)), (of) =>
    of.length > mostCombined ? Option.none() : Option.some(allOf(of)),
  );

/** Writes a condition as `parseCondition` reads it. @internal */
export const formatCondition = (when: RoleCondition): string =>
  conditionsIn(when).map(formatSingle).join(and);

const formatSingle = (condition: SingleCondition): string => {
  const when = plainOf(condition);
  const { forms, typed } = rowOf(kindOf(when));
  const fields = typed(when);
  const fieldsIn = (form: string) => [...form.matchAll(placeholder)].map(([, field]) => field as RuleField);
  const given = (Object.keys(fields) as ReadonlyArray<RuleField>).filter((field) => fields[field] !== "");
  const form = forms.find((each) => given.every((field) => fieldsIn(each).includes(field))) ?? forms[0];
  const text = form.replaceAll(placeholder, (_, field: RuleField) => fields[field] ?? "");
  return condition.is === "not" ? `${not}${text}` : text;
};

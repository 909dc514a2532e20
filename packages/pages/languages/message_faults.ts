/** Compares messages with the English source: what a page needs of a message, and what a message lacks. */
import { IntlMessageFormat } from "intl-messageformat";
import { type LanguageTag, languages, languageTags } from "./languages.ts";

type Messages = Readonly<Record<string, string>>;
type Element = ReturnType<IntlMessageFormat["getAst"]>[number];

/** What a message asks of those who show it: its placeholders, and the forms of its plurals. */
export interface Needs {
  readonly values: Readonly<Record<string, "text" | "number" | "tag">>;
  readonly plurals: ReadonlyArray<ReadonlyArray<string>>;
}

/** The numbers that stand for the types of elements in a parsed message. */
const types = { literal: 0, argument: 1, select: 5, plural: 6, tag: 8 };
const kinds: Readonly<Record<number, "text" | "tag">> = {
  [types.argument]: "text",
  [types.select]: "text",
  [types.tag]: "tag",
};

/** Throws a `SyntaxError` if the message is not an ICU message. */
export const needsOf = (tag: string, message: string): Needs => {
  const values: Record<string, "text" | "number" | "tag"> = {};
  const plurals: Array<ReadonlyArray<string>> = [];
  const read = (element: Element) => {
    if (!("value" in element)) return;
    const type: number = element.type;
    if (type !== types.literal) values[element.value] = kinds[type] ?? "number";
    if (type === types.plural && "options" in element) plurals.push(Object.keys(element.options));
    if ("options" in element) for (const { value } of Object.values(element.options)) readAll(value);
    if ("children" in element) readAll(element.children);
  };
  const readAll = (each: ReadonlyArray<Element>) => {
    for (const element of each) read(element);
  };
  readAll(new IntlMessageFormat(message, tag).getAst());
  return { values, plurals };
};

/** The plural forms that a language uses for whole numbers, and the form that every message needs. */
const formsOf = (tag: string): ReadonlySet<string> => {
  const rules = new Intl.PluralRules(tag);
  return new Set(["other", ...Array.from({ length: 1_000 }, (_, number) => rules.select(number))]);
};

const faultsIn = (tag: string, key: string, message: unknown, source: string): ReadonlyArray<string> => {
  if (typeof message !== "string") return [`${key} is of type ${typeof message}, expected a message`];
  if (message.trim() !== message || message === "") return [`${key} is empty or has blanks at its ends`];
  if (message.includes("'")) return [`${key} has a straight apostrophe, which ICU reads as a quote: use ’`];
  let needs: Needs;
  try {
    needs = needsOf(tag, message);
  } catch (error) {
    return [`${key} is not an ICU message: ${String(error)}`];
  }
  const wanted = needsOf("en", source).values;
  const faults = Object.keys({ ...needs.values, ...wanted })
    .filter((name) => needs.values[name] !== wanted[name])
    .map(
      (name) =>
        `${key}: {${name}} is ${needs.values[name] ?? "missing"}, in English ${wanted[name] ?? "missing"}`,
    );
  const allowed: ReadonlyArray<string> = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
  for (const forms of needs.plurals) {
    const missing = [...formsOf(tag)].filter((form) => !forms.includes(form));
    const needless = forms.filter((form) => !form.startsWith("=") && !allowed.includes(form));
    if (missing.length + needless.length > 0) {
      faults.push(`${key}: plural forms missing: ${missing.join(" ")}; needless: ${needless.join(" ")}`);
    }
  }
  return faults;
};

/** Returns the faults of these messages of a language, one line each. Messages may be left out. */
export const faultsOf = (tag: string, messages: Messages, english: Messages): ReadonlyArray<string> =>
  Object.entries(messages).flatMap(([key, message]) => {
    const source = Object.hasOwn(english, key) ? english[key] : undefined;
    return source === undefined ? [`${key} is not in English`] : faultsIn(tag, key, message, source);
  });

/** Returns the faults of the messages of an embedder, one line each. */
export const ownMessageFaults = async (
  own: Readonly<Record<string, Messages>>,
): Promise<ReadonlyArray<string>> => {
  const english = (await languages.en.read()).default;
  return Object.entries(own).flatMap(([tag, messages]) =>
    languageTags.includes(tag as LanguageTag)
      ? faultsOf(tag, messages, english).map((fault) => `languages.${tag}: ${fault}`)
      : [`languages.${tag} is unknown, expected one of ${languageTags.join(", ")}`],
  );
};

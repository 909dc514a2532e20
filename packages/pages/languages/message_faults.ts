/** Compares messages with the English source: what a page needs of a message, and what a message lacks. */
import { IntlMessageFormat } from "intl-messageformat";
import type { Messages } from "./language.ts";
import { type LanguageTag, languages, offeredShare } from "./languages.ts";
import { limitFault } from "./message_limits.ts";

type Element = ReturnType<IntlMessageFormat["getAst"]>[number];

type Kind = "text" | "number" | "tag";

/** One way through a message, which takes one branch of each of its plurals. */
interface Way {
  /** The placeholders and tags on the way. */
  readonly values: Readonly<Record<string, Kind>>;
  /** The branches that the way takes: the number that decides, and the form of the branch. */
  readonly branches: ReadonlyArray<{ readonly value: string; readonly form: string }>;
  /** The numbers that the way shows. */
  readonly shown: ReadonlySet<string>;
}

/** What a message asks of those who show it. */
export interface Needs {
  readonly ways: ReadonlyArray<Way>;
  /** The placeholders and tags of all ways. */
  readonly values: Readonly<Record<string, Kind>>;
  readonly plurals: ReadonlyArray<ReadonlyArray<string>>;
}

/** The numbers that stand for the types of elements in a parsed message. */
const types = { literal: 0, argument: 1, select: 5, plural: 6, pound: 7, tag: 8 };
const kinds: Readonly<Record<number, Kind>> = {
  [types.argument]: "text",
  [types.select]: "text",
  [types.tag]: "tag",
};

const empty: Way = { values: {}, branches: [], shown: new Set() };

const joined = (one: Way, other: Way): Way => ({
  values: { ...one.values, ...other.values },
  branches: [...one.branches, ...other.branches],
  shown: new Set([...one.shown, ...other.shown]),
});

/** Throws a `SyntaxError` if the message is not an ICU message. */
export const needsOf = (tag: string, message: string): Needs => {
  const plurals: Array<ReadonlyArray<string>> = [];
  /** @param counted the number that `#` shows; null outside a plural */
  const waysOf = (element: Element, counted: string | null): ReadonlyArray<Way> => {
    const type: number = element.type;
    if (type === types.pound) return [{ ...empty, shown: new Set(counted === null ? [] : [counted]) }];
    if (type === types.literal || !("value" in element)) return [empty];
    const { value } = element;
    const kind = kinds[type] ?? "number";
    const here: Way = {
      ...empty,
      values: { [value]: kind },
      shown: new Set(kind === "number" && type !== types.plural ? [value] : []),
    };
    if ("children" in element) return through(element.children, counted).map((way) => joined(here, way));
    if (!("options" in element)) return [here];
    const isPlural = type === types.plural;
    if (isPlural) plurals.push(Object.keys(element.options));
    return Object.entries(element.options).flatMap(([form, option]) =>
      through(option.value, isPlural ? value : counted).map((way) =>
        joined(isPlural ? { ...here, branches: [{ value, form }] } : here, way),
      ),
    );
  };
  const through = (elements: ReadonlyArray<Element>, counted: string | null): ReadonlyArray<Way> =>
    elements.reduce<ReadonlyArray<Way>>(
      (ways, element) => {
        const next = waysOf(element, counted);
        return ways.flatMap((way) => next.map((step) => joined(way, step)));
      },
      [empty],
    );
  const ways = through(new IntlMessageFormat(message, tag).getAst(), null);
  return { ways, plurals, values: Object.assign({}, ...ways.map(({ values }) => values)) };
};

/** The rules of a language. The language is asked once, because an answer takes as long as reading a message. */
interface Plurals {
  readonly categories: ReadonlyArray<string>;
  /** The forms that the language uses for whole numbers, with how many numbers up to 1000 have each. */
  readonly forms: ReadonlyMap<string, number>;
}

const pluralsByTag = new Map<string, Plurals>();

const pluralsOf = (tag: string): Plurals => {
  const known = pluralsByTag.get(tag);
  if (known !== undefined) return known;
  const rules = new Intl.PluralRules(tag);
  const forms = new Map<string, number>();
  for (let number = 0; number <= 1_000; number++) {
    const form = rules.select(number);
    forms.set(form, (forms.get(form) ?? 0) + 1);
  }
  const { pluralCategories: categories } = rules.resolvedOptions();
  const plurals = { categories, forms };
  pluralsByTag.set(tag, plurals);
  return plurals;
};

/** Compares each way through a message with the English message. */
const wayFaults = (tag: string, needs: Needs, wanted: Needs): ReadonlyArray<string> => {
  const { forms } = pluralsOf(tag);
  const everywhere = Object.keys(wanted.values).filter((name) =>
    wanted.ways.every(({ values }) => Object.hasOwn(values, name)),
  );
  // English shows a number in "other" unless the message only tells one from several.
  const shown = new Set(wanted.ways.flatMap((way) => [...way.shown]));
  const faults = needs.ways.flatMap((way) => {
    const place = way.branches.map(({ value, form }) => ` in {${value}, ${form}}`).join("");
    const missing = everywhere.filter(
      (name) => Object.hasOwn(needs.values, name) && !Object.hasOwn(way.values, name),
    );
    const uncounted = way.branches.filter(
      ({ value, form }) =>
        !form.startsWith("=") &&
        (form === "other" || (forms.get(form) ?? 0) > 1) &&
        shown.has(value) &&
        !way.shown.has(value),
    );
    return [
      ...missing.map((name) => `{${name}} is missing${place}`),
      ...uncounted.map(({ value, form }) => `the number is missing in {${value}, ${form}}`),
    ];
  });
  return [...new Set(faults)];
};

const pluralFaults = (tag: string, { plurals }: Needs): ReadonlyArray<string> => {
  if (plurals.length === 0) return [];
  const { categories, forms: used } = pluralsOf(tag);
  const wanted = new Set([...used.keys(), "other"]);
  return plurals.flatMap((forms) => {
    const missing = [...wanted].filter((form) => !forms.includes(form));
    const needless = forms.filter((form) => !form.startsWith("=") && !categories.includes(form));
    return missing.length + needless.length === 0
      ? []
      : [`plural forms missing: ${missing.join(" ")}; needless: ${needless.join(" ")}`];
  });
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
  const wanted = needsOf("en", source);
  const faults = Object.keys({ ...needs.values, ...wanted.values })
    .filter((name) => needs.values[name] !== wanted.values[name])
    .map(
      (name) =>
        `{${name}} is ${needs.values[name] ?? "missing"}, in English ${wanted.values[name] ?? "missing"}`,
    );
  const limit = limitFault(key, message);
  return [
    ...faults,
    ...wayFaults(tag, needs, wanted),
    ...pluralFaults(tag, needs),
    ...(limit === null ? [] : [limit]),
  ].map((fault) => `${key}: ${fault}`);
};

/** Returns the faults of these messages of a language, one line each. Messages may be left out. */
export const faultsOf = (tag: string, messages: Messages, english: Messages): ReadonlyArray<string> =>
  Object.entries(messages).flatMap(([key, message]) => {
    const source = Object.hasOwn(english, key) ? english[key] : undefined;
    return source === undefined ? [`${key} is not in English`] : faultsIn(tag, key, message, source);
  });

const isLanguageTag = (tag: string): boolean => {
  try {
    return Intl.getCanonicalLocales(tag)[0] === tag;
  } catch {
    return false;
  }
};

export const ownMessageFaults = async (
  own: Readonly<Record<string, Messages>>,
): Promise<ReadonlyArray<string>> => {
  const english = (await languages.en.read()).default;
  const least = Math.ceil(Object.keys(english).length * offeredShare);
  const faults = await Promise.all(
    Object.entries(own).map(async ([tag, messages]) => {
      if (!isLanguageTag(tag)) return ["is not a language tag, expected one such as de or pt-BR"];
      const file = Object.hasOwn(languages, tag) ? (await languages[tag as LanguageTag].read()).default : {};
      const count = Object.keys({ ...file, ...messages }).filter((key) => Object.hasOwn(english, key)).length;
      const found = faultsOf(tag, messages, english);
      return count < least ? [...found, `has ${count} messages, expected at least ${least}`] : found;
    }),
  );
  return Object.keys(own).flatMap((tag, index) =>
    (faults[index] ?? []).map(
      (fault) => `languages.${tag}${/^(?:is|has) /.test(fault) ? " " : ": "}${fault}`,
    ),
  );
};

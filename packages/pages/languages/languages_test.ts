/** Every language against the English source. Run with `-u` after a change of the English messages. */
import { readdirSync, readFileSync } from "node:fs";
import { IntlMessageFormat } from "intl-messageformat";
import { describe, expect, it } from "vitest";
import { acceptedLanguage, findLanguage, languages, languageTags } from "./languages.ts";

type Element = ReturnType<IntlMessageFormat["getAst"]>[number];

const messagesOf = (tag: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(new URL(`${tag}.json`, import.meta.url), "utf8"));

const english = messagesOf("en");

/** What a message asks of those who show it: its placeholders, the parts of its plurals, and faults. */
interface Needs {
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

const needsOf = (elements: ReadonlyArray<Element>): Needs => {
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
  readAll(elements);
  return { values, plurals };
};

const read = (tag: string, message: string): Needs => needsOf(new IntlMessageFormat(message, tag).getAst());

/** The plural forms that a language uses for whole numbers, and the form that every message needs. */
const formsOf = (tag: string): ReadonlySet<string> => {
  const rules = new Intl.PluralRules(tag);
  return new Set(["other", ...Array.from({ length: 1_000 }, (_, number) => rules.select(number))]);
};

/** Returns what is wrong with the messages of a language, one line each. */
const faultsOf = (tag: string): ReadonlyArray<string> => {
  const messages = messagesOf(tag);
  const allowed = new Set(
    new Intl.PluralRules(tag).resolvedOptions().pluralCategories as ReadonlyArray<string>,
  );
  const faultsIn = (key: string, message: string): ReadonlyArray<string> => {
    if (message.trim() !== message || message === "") return [`${key} is empty or has blanks at its ends`];
    if (message.includes("'")) return [`${key} has a straight apostrophe, which ICU reads as a quote: use ’`];
    const { values, plurals } = read(tag, message);
    const wanted = read("en", english[key] ?? "").values;
    const faults = Object.keys({ ...values, ...wanted })
      .filter((name) => values[name] !== wanted[name])
      .map(
        (name) =>
          `${key}: {${name}} is ${values[name] ?? "missing"}, in English ${wanted[name] ?? "missing"}`,
      );
    for (const forms of plurals) {
      const missing = [...formsOf(tag)].filter((form) => !forms.includes(form));
      const needless = forms.filter((form) => !form.startsWith("=") && !allowed.has(form));
      if (missing.length + needless.length > 0) {
        faults.push(`${key}: plural forms missing: ${missing.join(" ")}; needless: ${needless.join(" ")}`);
      }
    }
    return faults;
  };
  return [
    ...Object.keys(english)
      .filter((key) => !(key in messages))
      .map((key) => `${key} is missing`),
    ...Object.entries(messages).flatMap(([key, message]) =>
      key in english ? faultsIn(key, message) : [`${key} is not in English`],
    ),
  ];
};

describe("the messages", () => {
  it.each(languageTags)("the messages in %s are those of the English source", (tag) => {
    expect(faultsOf(tag)).toEqual([]);
    expect(Object.keys(messagesOf(tag))).toEqual(Object.keys(english));
  });

  it("every file of messages is a language, and the types name every value of a message", async () => {
    const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".json"));
    expect(files.toSorted()).toEqual(languageTags.map((tag) => `${tag}.json`).toSorted());
    const lines = Object.entries(english).map(([key, message]) => {
      const { values } = read("en", message);
      const fields = Object.entries(values).map(([name, kind]) => `readonly ${name}: "${kind}"`);
      const line = `  readonly "${key}": ${fields.length === 0 ? "null" : `{ ${fields.join("; ")} }`};`;
      return line.length <= 110
        ? line
        : line.replace("{ ", "{\n    ").replaceAll("; readonly", ";\n    readonly").replace(" };", ";\n  };");
    });
    const head =
      "/** The values of each message. Written by `vitest -u` from `en.json`: see `languages_test.ts`. */";
    await expect(`${head}\nexport interface MessageValues {\n${lines.join("\n")}\n}\n`).toMatchFileSnapshot(
      "message_values.ts",
    );
  });
});

describe("findLanguage and acceptedLanguage", () => {
  it("a language range finds the language of its longest known prefix", () => {
    expect(findLanguage("EN-gb-oxendict")).toBe("en");
    expect(findLanguage("xx")).toBeNull();
    expect(findLanguage("")).toBeNull();
  });

  it("the accepted language with the highest weight wins, and one of weight 0 never", () => {
    expect(acceptedLanguage("xx, en;q=0.5")).toBe("en");
    expect(acceptedLanguage("en;q=0, *")).toBeNull();
    expect(acceptedLanguage("")).toBeNull();
  });

  it("every language has a name of its own", () => {
    expect(new Set(Object.values(languages).map(({ name }) => name)).size).toBe(languageTags.length);
  });
});

/** Every language against the English source. Run with `-u` after a change of the English messages. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { acceptedLanguage, findLanguage, languages, languageTags } from "./languages.ts";
import { faultsOf, needsOf } from "./message_faults.ts";

const messagesOf = (tag: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(new URL(`${tag}.json`, import.meta.url), "utf8"));

const english = messagesOf("en");

/** Messages that some languages have in common with English. */
const commonKeys = new Set(
  `account.id account.name_and_id account.unnamed chat.command.panel.name chat.option.text.name chat.sync.nickname
   community.unnamed footer.contact home.dashboard me.browser me.browsers`.split(/\s+/),
);

it.each(languageTags)("the messages in %s are those of the English source", (tag) => {
  expect(faultsOf(tag, messagesOf(tag), english)).toEqual([]);
  expect(Object.keys(messagesOf(tag))).toEqual(Object.keys(english));
  const isEnglish = (key: string) => tag !== "en" && messagesOf(tag)[key] === english[key];
  expect(Object.keys(english).filter((key) => isEnglish(key) && !commonKeys.has(key))).toEqual([]);
});

it("every file of messages is a language, and the types name every value of a message", async () => {
  const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".json"));
  expect(files.toSorted()).toEqual(languageTags.map((tag) => `${tag}.json`).toSorted());
  const lines = Object.entries(english).flatMap(([key, message]) => {
    const { values } = needsOf("en", message);
    const kinds = Object.entries(values).map(([name, kind]) => `"${name}: ${kind}"`);
    return kinds.length === 0 ? [] : [`  readonly "${key}": ${kinds.join(" | ")};`];
  });
  const head =
    "// biome-ignore-all format: `vitest -u` writes this from `en.json`, see `languages_test.ts`.\n/** The values of each message that has some: the name and the kind of each. */";
  await expect(`${head}\nexport interface MessageValues {\n${lines.join("\n")}\n}\n`).toMatchFileSnapshot(
    "message_values.ts",
  );
});

it("faults name a key, a placeholder, a plural form and a message that cannot be read", () => {
  const messages = {
    toString: "Code",
    "flow.help": "Hilfe {now",
    "flow.sign_in": "Anmelden",
    "me.browsers.forget": "{count, plural, other {Vergessen}}",
    "me.back": " ",
  };
  expect(faultsOf("de", messages, english)).toEqual([
    "toString is not in English",
    "flow.help is not an ICU message: SyntaxError: EXPECT_ARGUMENT_CLOSING_BRACE",
    "flow.sign_in: {platform} is missing, in English text",
    "me.browsers.forget: plural forms missing: one; needless: ",
    "me.back is empty or has blanks at its ends",
  ]);
});

it("a language range finds the language of its longest known prefix", () => {
  expect(findLanguage("EN-gb-oxendict")).toBe("en");
  expect(findLanguage("xx")).toBeNull();
  expect(findLanguage("")).toBeNull();
});

it("the accepted language with the highest weight wins, and one of weight 0 never", () => {
  expect(acceptedLanguage("xx, en;q=0.5")).toBe("en");
  expect(acceptedLanguage("in-ID, en;q=0.9")).toBe("id");
  expect(acceptedLanguage("en;q=0, *")).toBeNull();
  expect(acceptedLanguage("")).toBeNull();
});

it("every language has a name of its own", () => {
  expect(new Set(Object.values(languages).map(({ name }) => name)).size).toBe(languageTags.length);
});

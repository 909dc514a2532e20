/** Every language against the English source. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Language, type MessageKey } from "./language.ts";
import {
  acceptedLanguage,
  directionOf,
  type LanguageTag,
  languageFinder,
  languages,
  offeredShare,
} from "./languages.ts";
import { faultsOf } from "./message_faults.ts";
import { limitOf } from "./message_limits.ts";
import { writingFaults } from "./test_writing_faults.ts";

const messagesOf = (tag: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(new URL(`${tag}.json`, import.meta.url), "utf8"));

const english = messagesOf("en");
const tags = Object.keys(languages) as ReadonlyArray<LanguageTag>;

/** Messages that some languages have in common with English. */
const commonKeys = new Set(
  `account.id account.name_and_id account.unnamed chat.command.panel.name chat.option.text.name chat.sync.nickname
   community.unnamed footer.contact home.dashboard me.browser me.browsers`.split(/\s+/),
);

it.each(tags)("the messages in %s are those of the English source", (tag) => {
  const messages = messagesOf(tag);
  expect(faultsOf(tag, messages, english)).toEqual([]);
  expect(writingFaults(tag, messages, english)).toEqual([]);
  const keys = Object.keys(english).filter((key) => Object.hasOwn(messages, key));
  expect(Object.keys(messages)).toEqual(keys);
  expect(languages[tag].state !== "unfinished").toBe(
    keys.length >= Object.keys(english).length * offeredShare,
  );
  const isEnglish = (key: string) => tag !== "en" && messages[key] === english[key];
  expect(keys.filter((key) => isEnglish(key) && !commonKeys.has(key))).toEqual([]);
});

it.each(tags)("in %s, each command has a name of its own", (tag) => {
  const messages = { ...english, ...messagesOf(tag) };
  for (const kind of [/^chat\.command\.\w+\.name$/, /^chat\.command\.\w+\.menu$/]) {
    const names = Object.keys(english).flatMap((key) => (kind.test(key) ? [messages[key]] : []));
    expect(new Set(names).size).toBe(names.length);
  }
});

it("English messages read as sentences with names that begin with an article", () => {
  const dashboard = readFileSync(new URL("dashboard/en.json", import.meta.url), "utf8");
  const messages = { ...english, ...(JSON.parse(dashboard) as typeof english) };
  // With the dev platforms, the names are "the chat platform" and "the game platform".
  const name = String.raw`\{(?:chat|game|chatName|gameName|platform)\}`;
  const twoArticles = new RegExp(
    String.raw`\b(?:an?|the|this|your|their|its|no|each|every) ${name}|${name} (?:accounts?|IDs?|profiles?|users?)\b`,
  );
  expect(Object.entries(messages).filter(([, text]) => twoArticles.test(text))).toEqual([]);
});

it("every file of messages is a language", () => {
  const files = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".json"));
  expect(files.toSorted()).toEqual(tags.map((tag) => `${tag}.json`).toSorted());
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

it("faults name a branch without its tag, value or number", () => {
  const branch = (text: string) =>
    `{count, plural, one {<b>Noch # Schlüssel.</b> Er endet.} other {${text}}}`;
  const source = { keys: "{count, plural, one {<b># key.</b> It ends.} other {<b># keys.</b> They end.}}" };
  expect(faultsOf("de", { keys: branch("Noch # Schlüssel.") }, source)).toEqual([
    "keys: {b} is missing in {count, other}",
  ]);
  expect(faultsOf("de", { keys: branch("<b>Noch Schlüssel.</b>") }, source)).toEqual([
    "keys: the number is missing in {count, other}",
  ]);
  const known =
    "{count, plural, one {Одно сообщество ({gameName})} few {# ({gameName})} many {#} other {# ({gameName})}}";
  expect(faultsOf("ru", { "me.links.known": known }, english)).toEqual([
    "me.links.known: the number is missing in {count, one}",
    "me.links.known: {gameName} is missing in {count, many}",
  ]);
  // A form for one number alone needs no number, and a message that shows none in English needs none either.
  const arabic = messagesOf("ar")["me.links.known"] ?? "";
  expect(arabic).toContain("one {يعرف مجتمع واحد");
  expect(faultsOf("ar", { "me.links.known": arabic }, english)).toEqual([]);
});

it("faults of writing name blanks at French signs that are not narrow, and a form for 1 that is also for 21", () => {
  const french = { "me.back": "Retour !", "flow.help": "Un «\u00a0mot\u00a0»", "me.title": "Qui\u202f?" };
  expect(writingFaults("fr", french, english).map((fault) => fault.split(" ", 1)[0])).toEqual([
    "me.back",
    "flow.help",
  ]);
  expect(writingFaults("de", french, english)).toEqual([]);
  const forget = (forms: string) => ({ "me.browsers.forget": `{count, plural, ${forms} other {Всі}}` });
  const forms = "one {Один} few {Всі} many {Всі}";
  expect(writingFaults("uk", forget(forms), english)).toEqual([
    "me.browsers.forget: =1 is missing, since one is also 21",
  ]);
  expect(writingFaults("uk", forget(`=1 {Один} ${forms}`), english)).toEqual([]);
  expect(writingFaults("pl", forget(forms), english)).toEqual([]);
});

it("a language with a region never takes its base from another", () => {
  const spanish = languageFinder(["es", "es-419"]);
  expect(["es", "es-ES", "es-MX", "es-419"].map(spanish)).toEqual(["es", "es", "es", "es-419"]);
  const chinese = languageFinder(["zh-CN", "zh-TW"]);
  for (const range of ["zh", "zh-CN", "zh-SG", "zh-Hans-HK"]) expect(chinese(range)).toBe("zh-CN");
  for (const range of ["zh-TW", "zh-HK", "zh-Hant", "zh_Hant_MO"]) expect(chinese(range)).toBe("zh-TW");
  const portuguese = languageFinder(["pt-BR", "pt-PT", "pt-AO"]);
  expect(["pt", "pt-PT", "pt-MZ"].map(portuguese)).toEqual(["pt-BR", "pt-PT", "pt-BR"]);
});

it("a language range finds a language by each of its codes", () => {
  for (const tag of ["no", "nb"]) {
    const find = languageFinder(["en", tag]);
    expect(["no", "nb", "nn", "nb-NO", "no-NO"].map(find)).toEqual([tag, tag, tag, tag, tag]);
  }
  const find = languageFinder(["en", "id", "he", "pt-BR", "sv"]);
  expect(["in", "in-ID", "iw", "iw-IL"].map(find)).toEqual(["id", "id", "he", "he"]);
  expect(["pt_BR", "pt", "sv-SE", "EN-gb-oxendict"].map(find)).toEqual(["pt-BR", "pt-BR", "sv", "en"]);
  expect(["xx", "", "toString", "zh-", "*"].map(find)).toEqual([null, null, null, null, null]);
  expect(languageFinder(["zh-CN", "zh-TW"])("zh-!")).toBe("zh-CN");
});

it("the accepted language with the highest weight wins, and one of weight 0 never", () => {
  const find = languageFinder(["en", "id"]);
  expect(acceptedLanguage("xx, en;q=0.5", find)).toBe("en");
  expect(acceptedLanguage("in-ID, en;q=0.9", find)).toBe("id");
  expect(acceptedLanguage("en;q=0, *", find)).toBeNull();
  expect(acceptedLanguage("", find)).toBeNull();
});

it("ranges over 35 characters and headers over 1,000 are ignored, and what is read takes no time", () => {
  const find = languageFinder(["en", "de"]);
  expect([find(`de-${"x".repeat(32)}`), find(`de-${"x".repeat(33)}`)]).toEqual(["de", null]);
  const accepted = (length: number) => acceptedLanguage(`${"1,".repeat(length / 2 - 1)}de`, find);
  expect([accepted(1_000), accepted(1_002)]).toEqual(["de", null]);
  const began = performance.now();
  for (let page = 0; page < 20; page++) {
    for (const range of ["-", "a-", "de-"]) find(range.repeat(7_500));
    for (const range of ["a,", "xx,", "1;q=1,"]) acceptedLanguage(range.repeat(7_500), find);
  }
  expect(performance.now() - began).toBeLessThan(1_000);
});

it("every language has a name of its own, and the direction of its script", () => {
  expect(new Set(Object.values(languages).map(({ name }) => name)).size).toBe(tags.length);
  for (const tag of ["ar", "he", "fa", "ur"]) expect(directionOf(tag)).toBe("rtl");
  for (const tag of ["en", "ja"]) expect(directionOf(tag)).toBe("ltr");
});

it("a message that a language lacks is English, with the plurals of English", () => {
  const forget = "{count, plural, one {Forget one} other {Forget all}}";
  const language = new Language(
    "ru",
    "Русский",
    { "me.back": "Назад" },
    { ...english, "me.browsers.forget": forget },
  );
  expect(language.text("me.back")).toBe("Назад");
  expect(language.text("me.browsers.forget", { count: 21 })).toBe("Forget all");
});

it.each(["de", "en", "es", "fr", "pt-BR"])(
  "no second sentence of a message in %s begins with a platform, whose name may be a noun in small letters",
  (tag) => {
    const all = { ...messagesOf(tag), ...messagesOf(`dashboard/${tag}`) };
    const found = Object.values(all).filter((text) => /[.!?] \{(platform|chatName|gameName)\}/.test(text));
    expect(found).toEqual([]);
  },
);

/** The limits of the chat platform, by the key of a text. */
const limits: ReadonlyArray<readonly [key: MessageKey, limit: number]> = [
  ["chat.command.verify.name", 32],
  ["chat.option.user.name", 32],
  ["chat.command.whois.menu", 32],
  ["chat.command.panel.description", 100],
  ["chat.option.text.description", 100],
  ["chat.verify.start", 80],
  ["chat.no_home.open", 80],
  ["chat.direct.ask", 2_000],
];

it.each(limits)("%s may have %i characters", (key, limit) => {
  const faults = (length: number) => faultsOf("de", { [key]: "a".repeat(length) }, english);
  expect(limitOf(key)).toBe(limit);
  expect(faults(limit)).toEqual([]);
  expect(faults(limit + 1)).toEqual([`${key}: has ${limit + 1} characters, expected at most ${limit}`]);
});

it.each(["Prüfen", "prüfe mich", "pru\u0308fen", "prüfen!"])("%j is not the name of a command", (name) => {
  expect(faultsOf("de", { "chat.command.verify.name": name }, english)).toEqual([
    `chat.command.verify.name: "${name}" is not the name of a command: lower-case letters, digits, - and _`,
  ]);
});

/** The languages of the pages for users. To add one, add its file and its line here. */
import { groupBy } from "@accountlink/core/group_by";
import { ofDashboard } from "./dashboard/files.ts";

/** What one language is, and how to read its messages. */
interface LanguageFile {
  /** The name of the language in the language itself. */
  readonly name: string;
  readonly state: LanguageState;
  /** Reads the messages, an ICU message for each key. */
  readonly read: () => Promise<{ readonly default: Readonly<Record<string, string>> }>;
}

/**
 * Who read the messages: `reviewed` by a native speaker, or nobody yet. Pages offer both, and no `unfinished` language,
 * which has less than nine tenths of the messages.
 */
type LanguageState = "reviewed" | "draft" | "unfinished";

const draft = (name: string, read: LanguageFile["read"]): LanguageFile => ({ name, state: "draft", read });

const files = {
  en: draft("English", () => import("./en.json", { with: { type: "json" } })),
  de: draft("Deutsch", () => import("./de.json", { with: { type: "json" } })),
  es: draft("Español", () => import("./es.json", { with: { type: "json" } })),
  fr: draft("Français", () => import("./fr.json", { with: { type: "json" } })),
  it: draft("Italiano", () => import("./it.json", { with: { type: "json" } })),
  nl: draft("Nederlands", () => import("./nl.json", { with: { type: "json" } })),
  pl: draft("Polski", () => import("./pl.json", { with: { type: "json" } })),
  "pt-BR": draft("Português (Brasil)", () => import("./pt-BR.json", { with: { type: "json" } })),
  ru: draft("Русский", () => import("./ru.json", { with: { type: "json" } })),
  uk: draft("Українська", () => import("./uk.json", { with: { type: "json" } })),
  tr: draft("Türkçe", () => import("./tr.json", { with: { type: "json" } })),
  ar: draft("العربية", () => import("./ar.json", { with: { type: "json" } })),
  id: draft("Bahasa Indonesia", () => import("./id.json", { with: { type: "json" } })),
  vi: draft("Tiếng Việt", () => import("./vi.json", { with: { type: "json" } })),
  th: draft("ไทย", () => import("./th.json", { with: { type: "json" } })),
  ja: draft("日本語", () => import("./ja.json", { with: { type: "json" } })),
  ko: draft("한국어", () => import("./ko.json", { with: { type: "json" } })),
  "zh-CN": draft("简体中文", () => import("./zh-CN.json", { with: { type: "json" } })),
  "zh-TW": draft("繁體中文", () => import("./zh-TW.json", { with: { type: "json" } })),
} satisfies Readonly<Record<string, LanguageFile>>;

/** A language of the pages, as a BCP 47 tag. */
export type LanguageTag = keyof typeof files;

/** Every language, in the order in which pages offer them. @internal */
export const languages: Readonly<Record<LanguageTag, LanguageFile>> = files;

/** The languages that pages offer. @internal */
export const languageTags: ReadonlyArray<LanguageTag> = (
  Object.keys(files) as ReadonlyArray<LanguageTag>
).filter((tag) => languages[tag].state !== "unfinished");

/** A language of the dashboard. Its messages are a catalogue of their own; readers get those that are missing in English. */
export type DashboardTag = keyof typeof ofDashboard;

/** Reads the messages of the dashboard in each of its languages. @internal */
export const dashboardFiles: Readonly<Record<DashboardTag, LanguageFile["read"]>> =
  ofDashboard satisfies Partial<Record<LanguageTag, LanguageFile["read"]>>;

/** The languages that the dashboard offers. @internal */
export const dashboardTags = Object.keys(ofDashboard) as ReadonlyArray<DashboardTag>;

/** The share of the English messages from which on a language is offered. Readers get the others in English. */
export const offeredShare = 0.9;

const rightToLeft = new Set(["Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"]);

/** Returns the locale of a language tag, with the codes of today for old ones such as `in`; null for another text. */
const localeOf = (tag: string): Intl.Locale | null => {
  try {
    return new Intl.Locale(tag);
  } catch {
    return null;
  }
};

const scriptOf = (tag: string): string | undefined => localeOf(tag)?.maximize().script;

/** Returns the direction in which a language is written. */
export const directionOf = (tag: string): "ltr" | "rtl" =>
  rightToLeft.has(scriptOf(tag) ?? "") ? "rtl" : "ltr";

/** Returns the language of a tag, without region and script. Norwegian has a code for each of its two written forms, and one for both. */
export const baseOf = (tag: string): string | undefined => {
  const [code = ""] = tag.split("-", 1);
  // `Intl.Locale` takes long to refuse a text.
  const base = /^[a-z]{2,3}$/i.test(code) ? localeOf(code)?.language : undefined;
  return base === "nb" || base === "nn" ? "no" : base;
};

/** The longest language range that is read, in characters: RFC 5646 has no longer tag that is in use. */
const longestRange = 35;

/** The longest header `Accept-Language` that is read, in characters. Browsers send some 100. */
const longestHeader = 1_000;

/**
 * Makes a function that finds the language for a language range such as `de-AT`, or returns null. Beyond the lookup of
 * RFC 4647, a range finds a language of the same base: `pt-PT` finds `pt-BR`. Of several, languages in the same script go
 * first: `zh-HK` finds `zh-TW`.
 */
export const languageFinder = (tags: ReadonlyArray<string>) => {
  const exact = new Map(tags.map((tag) => [tag.toLowerCase(), tag]));
  const byBase = groupBy(tags, baseOf);
  return (range: string): string | null => {
    if (range.length > longestRange) return null;
    const wanted = range.toLowerCase().replaceAll("_", "-");
    for (let start = wanted; start !== ""; start = start.slice(0, Math.max(0, start.lastIndexOf("-")))) {
      const found = exact.get(start);
      if (found !== undefined) return found;
    }
    const related = byBase.get(baseOf(wanted)) ?? [];
    if (related.length < 2) return related[0] ?? null;
    const script = scriptOf(wanted);
    return related.find((tag) => scriptOf(tag) === script) ?? related[0] ?? null;
  };
};

/**
 * Returns the language that a reader prefers.
 *
 * @param acceptLanguage the header `Accept-Language`
 * @param find finds the language of a range
 */
export const acceptedLanguage = (
  acceptLanguage: string,
  find: (range: string) => string | null,
): string | null => {
  if (acceptLanguage.length > longestHeader) return null;
  const ranges = acceptLanguage.split(",").map((entry) => {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q=/i.test(parameter));
    return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
  const wanted = ranges
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight);
  for (const { range } of wanted) {
    const found = find(range);
    if (found !== null) return found;
  }
  return null;
};

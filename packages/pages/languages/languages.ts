/** The languages of the pages for users. To add one, add its file and its line here. */

/** What one language is, and how to read its messages. */
interface LanguageFile {
  /** The name of the language in the language itself. */
  readonly name: string;
  readonly dir: "ltr" | "rtl";
  /** Reads the messages, an ICU message for each key. */
  readonly read: () => Promise<{ readonly default: Readonly<Record<string, string>> }>;
}

const ltr = (name: string, read: LanguageFile["read"]): LanguageFile => ({ name, dir: "ltr", read });

const files = {
  en: ltr("English", () => import("./en.json", { with: { type: "json" } })),
  de: ltr("Deutsch", () => import("./de.json", { with: { type: "json" } })),
  es: ltr("Español", () => import("./es.json", { with: { type: "json" } })),
  fr: ltr("Français", () => import("./fr.json", { with: { type: "json" } })),
  it: ltr("Italiano", () => import("./it.json", { with: { type: "json" } })),
  nl: ltr("Nederlands", () => import("./nl.json", { with: { type: "json" } })),
  pl: ltr("Polski", () => import("./pl.json", { with: { type: "json" } })),
  "pt-BR": ltr("Português (Brasil)", () => import("./pt-BR.json", { with: { type: "json" } })),
  ru: ltr("Русский", () => import("./ru.json", { with: { type: "json" } })),
  tr: ltr("Türkçe", () => import("./tr.json", { with: { type: "json" } })),
  ar: { name: "العربية", dir: "rtl", read: () => import("./ar.json", { with: { type: "json" } }) },
  id: ltr("Bahasa Indonesia", () => import("./id.json", { with: { type: "json" } })),
  vi: ltr("Tiếng Việt", () => import("./vi.json", { with: { type: "json" } })),
  th: ltr("ไทย", () => import("./th.json", { with: { type: "json" } })),
  ja: ltr("日本語", () => import("./ja.json", { with: { type: "json" } })),
  ko: ltr("한국어", () => import("./ko.json", { with: { type: "json" } })),
  "zh-CN": ltr("简体中文", () => import("./zh-CN.json", { with: { type: "json" } })),
} satisfies Readonly<Record<string, LanguageFile>>;

/** A language of the pages, as a BCP 47 tag. */
export type LanguageTag = keyof typeof files;

/** The languages, in the order in which pages offer them. @internal */
export const languages: Readonly<Record<LanguageTag, LanguageFile>> = files;

/** @internal */
export const languageTags = Object.keys(files) as ReadonlyArray<LanguageTag>;

/** The languages by their tag and by its first part, in lower case: "pt" finds `pt-BR`. */
const tagsByRange: ReadonlyMap<string, LanguageTag> = new Map(
  languageTags.flatMap((tag) => {
    const range = tag.toLowerCase();
    return [
      [range, tag],
      [range.split("-", 1)[0] ?? range, tag],
    ] as const;
  }),
);

/**
 * Returns the language for a language range such as `de-AT`, by the lookup of RFC 4647; null if there is none.
 *
 * @internal
 */
export const findLanguage = (range: string): LanguageTag | null => {
  // Java and older Android send the former code of Indonesian.
  const parts = range
    .toLowerCase()
    .replace(/^in(?=-|$)/, "id")
    .split("-");
  for (let length = parts.length; length > 0; length--) {
    const found = tagsByRange.get(parts.slice(0, length).join("-"));
    if (found !== undefined) return found;
  }
  return null;
};

/**
 * Returns the language that a reader prefers.
 *
 * @param acceptLanguage the header `Accept-Language`
 * @internal
 */
export const acceptedLanguage = (acceptLanguage: string): LanguageTag | null => {
  const ranges = acceptLanguage.split(",").map((entry) => {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q=/i.test(parameter));
    return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
  const wanted = ranges
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight);
  return wanted.map(({ range }) => findLanguage(range)).find((tag) => tag !== null) ?? null;
};

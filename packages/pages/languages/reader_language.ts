/** The language of whoever reads a page, and how they choose another. */
import { isUnder, type RequestContext, searchOf } from "@accountlink/http/for_pages";
import { Context, Effect, Layer } from "effect";
import { type Html, html, to } from "../html.ts";
import { pageCookie } from "../page_cookie.ts";
import { PageSettings } from "../page_settings.ts";
import { Language } from "./language.ts";
import { acceptedLanguage, type LanguageTag, languageFinder, languages, languageTags } from "./languages.ts";

/** The languages of a deployment: those of the service, and those that an embedder brings. @internal */
export class Languages extends Context.Service<
  Languages,
  {
    /** Returns the tag of the language for a language range; null if there is none. */
    readonly find: (range: string) => string | null;
    /** Returns a language, whose file is read at its first use. */
    readonly get: (tag: string) => Effect.Effect<Language>;
    /** Returns the language of a locale of the chat platform, or else English. */
    readonly ofLocale: (locale: string | null) => Effect.Effect<Language>;
    /**
     * Renders links to the page in every language.
     *
     * @param address where the page, or the way to it, can be opened: a query alone for the path of the page itself
     */
    readonly choice: (language: Language, address: string) => Html;
  }
>()("@accountlink/pages/Languages") {
  static readonly layer = Layer.effect(
    Languages,
    Effect.map(PageSettings, ({ messages = {} }) => {
      const tags = [...new Set<string>([...languageTags, ...Object.keys(messages)])];
      const known = new Map<string, Language>();
      const read = (tag: string) =>
        Effect.promise(async () => {
          const english = { ...(await languages.en.read()).default, ...messages["en"] };
          const file = isOurs(tag) ? (await languages[tag].read()).default : {};
          const language = new Language(tag, nameOf(tag), { ...file, ...messages[tag] }, english);
          known.set(tag, language);
          return language;
        });
      const find = languageFinder(tags);
      const get = (tag: string) => {
        const language = known.get(tag);
        return language === undefined ? read(tag) : Effect.succeed(language);
      };
      return Languages.of({
        find,
        get,
        ofLocale: (locale) => get(find(locale ?? "en") ?? "en"),
        choice: makeChoice(tags),
      });
    }),
  );
}

const isOurs = (tag: string): tag is LanguageTag => Object.hasOwn(languages, tag);

/** The name of a language in the language itself. */
const nameOf = (tag: string): string => {
  if (isOurs(tag)) return languages[tag].name;
  const name = new Intl.DisplayNames(tag, { type: "language" }).of(tag) ?? tag;
  return name.replace(/^./su, (letter) => letter.toLocaleUpperCase(tag));
};

const year = 365 * 24 * 60 * 60 * 1_000;

/** The cookie that keeps a language that a reader chose. */
export const languageCookie = (publicUrl: string) =>
  pageCookie("accountlink_language", { path: "/", publicUrl, maxAge: year, isForHost: false });

/** The dashboard is in English, whatever its reader prefers. */
export const isInEnglish = ({ request }: RequestContext): boolean => isUnder("/dashboard", request.url);

/** Returns the language that the reader chooses by the parameter `lang`; null without one that exists. */
export const chosenLanguage = ({ find }: Languages["Service"], context: RequestContext): string | null =>
  context.request.url.includes("lang=") && !isInEnglish(context)
    ? find(searchOf(context.request).get("lang") ?? "")
    : null;

/** Returns the language of a page: chosen now or earlier, else preferred by the browser, else English. */
export const languageOf = (
  served: Languages["Service"],
  context: RequestContext,
  cookie: string | null,
): string =>
  isInEnglish(context)
    ? "en"
    : (chosenLanguage(served, context) ??
      served.find(cookie ?? "") ??
      acceptedLanguage(context.request.header("accept-language") ?? "", served.find) ??
      "en");

const makeChoice = (tags: ReadonlyArray<string>): Languages["Service"]["choice"] => {
  const names = tags.map((tag) => [tag, nameOf(tag)] as const);
  return (language, address) => {
    const [path = "", query = ""] = address.split("?", 2);
    const fields = new URLSearchParams(query);
    fields.delete("lang");
    const links = names.map(([tag, name]) => {
      const chosen = `${path}?${new URLSearchParams([...fields, ["lang", tag]])}`;
      const current = tag === language.tag ? html` aria-current="true"` : null;
      return html`<li><a href="${to(chosen)}" lang="${tag}" hreflang="${tag}"${current}>${name}</a></li>`;
    });
    return html`
<details class="languages">
<summary>${language.text("language.choose")}: <span lang="${language.tag}">${language.name}</span></summary>
<ul role="list">${links}</ul>
</details>`;
  };
};

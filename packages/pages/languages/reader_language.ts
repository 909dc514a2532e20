/** The language of whoever reads a page, and how they choose another. */
import { isUnder, type RequestContext, searchOf } from "@accountlink/http/for_pages";
import { Context, Effect, Layer } from "effect";
import { Html, html } from "../html.ts";
import { pageCookie } from "../page_cookie.ts";
import { PageSettings } from "../page_settings.ts";
import { Language } from "./language.ts";
import { acceptedLanguage, findLanguage, type LanguageTag, languages, languageTags } from "./languages.ts";

/** The languages of a deployment. @internal */
export class Languages extends Context.Service<
  Languages,
  {
    /** Returns a language, whose file is read at its first use. */
    readonly get: (tag: LanguageTag) => Effect.Effect<Language>;
  }
>()("@accountlink/pages/Languages") {
  static readonly layer = Layer.effect(
    Languages,
    Effect.map(PageSettings, ({ messages = {} }) => {
      const known = new Map<LanguageTag, Language>();
      const read = (tag: LanguageTag) =>
        Effect.map(
          Effect.promise(() => languages[tag].read()),
          (file) => {
            const language = new Language(tag, { ...file.default, ...messages[tag] });
            known.set(tag, language);
            return language;
          },
        );
      return Languages.of({
        get: (tag) => {
          const language = known.get(tag);
          return language === undefined ? read(tag) : Effect.succeed(language);
        },
      });
    }),
  );
}

const year = 365 * 24 * 60 * 60 * 1_000;

/** The cookie that keeps a language that a reader chose. */
export const languageCookie = (publicUrl: string) =>
  pageCookie("accountlink_language", { path: "/", publicUrl, maxAge: year, isForHost: false });

/** The dashboard is in English, whatever its reader prefers. */
export const isInEnglish = ({ request }: RequestContext): boolean => isUnder("/dashboard", request.url);

/** Returns the language that the reader chooses by the parameter `lang`; null without one that exists. */
export const chosenLanguage = (context: RequestContext): LanguageTag | null =>
  context.request.url.includes("lang=") && !isInEnglish(context)
    ? findLanguage(searchOf(context.request).get("lang") ?? "")
    : null;

/** Returns the language of a page: chosen now or earlier, else preferred by the browser, else English. */
export const languageOf = (context: RequestContext, cookie: string | null): LanguageTag =>
  isInEnglish(context)
    ? "en"
    : (chosenLanguage(context) ??
      findLanguage(cookie ?? "") ??
      acceptedLanguage(context.request.header("accept-language") ?? "") ??
      "en");

/** What follows the address of the page in the link to each language. Rendered once, because every page has the links. */
const linkEnds = languageTags.map(
  (tag) => html`${tag}" lang="${tag}" hreflang="${tag}">${languages[tag].name}</a></li>`.source,
);

/**
 * Renders links to the page in every language.
 *
 * @param address where the page, or the way to it, can be opened: a query alone for the path of the page itself
 */
export const languageChoice = (language: Language, address: string): Html => {
  const [path = "", query = ""] = address.split("?", 2);
  const fields = new URLSearchParams(query);
  fields.delete("lang");
  fields.append("lang", "");
  const link = html`<li><a href="${path}?${fields.toString()}`.source;
  const current = `hreflang="${language.tag}"`;
  const links = `${link}${linkEnds.join(link)}`.replace(current, `${current} aria-current="true"`);
  return html`
<details class="languages">
<summary>${language.text("language.choose")}: <span lang="${language.tag}">${languages[language.tag].name}</span></summary>
<ul role="list">${new Html(links)}</ul>
</details>`;
};

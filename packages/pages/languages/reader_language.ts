/** The language of whoever reads a page, and how they choose another. */
import { isUnder, queryTextOf, type RequestContext } from "@accountlink/http/for_pages";
import { Context, Effect, Layer } from "effect";
import { type Html, html, to } from "../html.ts";
import { pageCookie } from "../page_cookie.ts";
import { PageSettings } from "../page_settings.ts";
import {
  type Catalogue,
  type DashboardMessages,
  Language,
  type Messages,
  type PlayerMessages,
} from "./language.ts";
import {
  acceptedLanguage,
  type DashboardTag,
  dashboardFiles,
  dashboardTags,
  type LanguageTag,
  languageFinder,
  languages,
  languageTags,
} from "./languages.ts";

/** The languages in which pages with one catalogue of messages can be read. @internal */
export interface Offer<C extends Catalogue> {
  /** Returns the tag of the language for a language range, or null. */
  readonly find: (range: string) => string | null;
  /** Returns a language, whose file is read at its first use. */
  readonly get: (tag: string) => Effect.Effect<Language<C>>;
  /**
   * Renders links to the page in every language.
   *
   * @param address where the page, or the way to it, can be opened: a query alone for the path of the page itself
   */
  readonly choice: (language: Language, address: string) => Html;
}

/** The languages of a deployment: the service's own, and an embedder's. @internal */
export class Languages extends Context.Service<
  Languages,
  Offer<PlayerMessages> & {
    /** Returns the language of a locale of the chat platform, or else English. */
    readonly ofLocale: (locale: string | null) => Effect.Effect<Language>;
    readonly dashboard: Offer<DashboardMessages>;
  }
>()("@accountlink/pages/Languages") {
  static readonly layer = Layer.effect(
    Languages,
    Effect.map(PageSettings, ({ messages = {} }) => {
      const players = makeOffer<PlayerMessages>(
        [...new Set<string>([...languageTags, ...Object.keys(messages)])],
        async (tag) => ({
          ...(isOurs(tag) ? (await languages[tag].read()).default : {}),
          ...messages[tag],
        }),
      );
      const { find, get } = players;
      return Languages.of({
        ...players,
        ofLocale: (locale) => get(find(locale ?? "en") ?? "en"),
        dashboard: makeOffer<DashboardMessages>(
          dashboardTags,
          async (tag) => (isOfDashboard(tag) ? await dashboardFiles[tag]() : { default: {} }).default,
        ),
      });
    }),
  );
}

/** @param read reads the messages of a language */
const makeOffer = <C extends Catalogue>(
  tags: ReadonlyArray<string>,
  read: (tag: string) => Promise<Messages>,
): Offer<C> => {
  const known = new Map<string, Language<C>>();
  const load = (tag: string) =>
    Effect.promise(async () => {
      const language = new Language<C>(tag, nameOf(tag), await read(tag), await read("en"));
      known.set(tag, language);
      return language;
    });
  return {
    find: languageFinder(tags),
    get: (tag) => {
      const language = known.get(tag);
      return language === undefined ? load(tag) : Effect.succeed(language);
    },
    choice: makeChoice(tags),
  };
};

const isOfDashboard = (tag: string): tag is DashboardTag => Object.hasOwn(dashboardFiles, tag);

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
  pageCookie("accountlink_language", { path: "/", publicUrl, maxAge: year, hasPlainName: true });

/** Returns the languages in which the page of a request can be read. */
export const offerFor = (
  served: Languages["Service"],
  { request }: RequestContext,
): Offer<PlayerMessages> | Offer<DashboardMessages> =>
  isUnder("/dashboard", request.url) ? served.dashboard : served;

/** Returns the language that the reader chooses by the parameter `lang`; null without one that exists. */
export const chosenLanguage = (served: Languages["Service"], context: RequestContext): string | null => {
  // To parse a whole query of 16 kB takes 10 ms, also for addresses over their limit.
  const [, chosen] = /[?&](lang=[^&]*)/.exec(queryTextOf(context.request)) ?? [];
  return chosen === undefined
    ? null
    : offerFor(served, context).find(new URLSearchParams(chosen).get("lang") ?? "");
};

/** Returns the language of a page: chosen now or earlier, else preferred by the browser, else English. */
export const languageOf = (
  served: Languages["Service"],
  context: RequestContext,
  cookie: string | null,
): string => {
  const { find } = offerFor(served, context);
  return (
    chosenLanguage(served, context) ??
    find(cookie ?? "") ??
    acceptedLanguage(context.request.header("accept-language") ?? "", find) ??
    "en"
  );
};

/** The longest path and query that links to a page in other languages keep, in characters. Each of 19 links has a copy. */
const longestPart = 2_000;

const makeChoice = (tags: ReadonlyArray<string>): Offer<Catalogue>["choice"] => {
  const names = tags.map((tag) => [tag, nameOf(tag)] as const);
  return (language, address) => {
    const [path = "", query = ""] = address
      .split("?", 2)
      .map((part) => (part.length > longestPart ? "" : part));
    const fields = new URLSearchParams(query);
    fields.delete("lang");
    const others = fields.size === 0 ? "" : `${fields}&`;
    const links = names.map(([tag, name]) => {
      const chosen = `${path}?${others}lang=${tag}`;
      const current = tag === language.tag ? html` aria-current="true"` : null;
      return html`<li><a href="${to(chosen)}" lang="${tag}" hreflang="${tag}"${current}>${name}</a></li>`;
    });
    return html`
<details class="languages">
<summary>${language.text("language.choose")} · <span lang="${language.tag}">${language.name}</span></summary>
<ul role="list">${links}</ul>
</details>`;
  };
};

import {
  basePathOf,
  type HttpResponse,
  HttpSettings,
  type RequestContext,
} from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { footerHtml } from "./footer.ts";
import type { Place } from "./html.ts";
import type { Language } from "./languages/language.ts";
import { Languages, offerFor } from "./languages/reader_language.ts";
import { type Page, pageResponse } from "./page.ts";
import { PageSettings, type PageSettingsShape } from "./page_settings.ts";
import { wordingOf } from "./said.ts";

export interface PageContext extends RequestContext {
  readonly language: Language;
}

/** Makes a function that renders a page in the language of its reader, who can choose another. */
export const makeRender = Effect.gen(function* () {
  const settings = yield* PageSettings;
  const placeFor = yield* makePlaceFor;
  const languages = yield* Languages;
  return (page: Page, context: PageContext): HttpResponse => {
    const { language, request, requestId } = context;
    const [, query = ""] = request.url.split("?", 2);
    const { address = request.method === "POST" ? "/" : `?${query}` } = page;
    const choice = offerFor(languages, context).choice(language, address);
    const footer = footerHtml(language, settings, requestId, choice);
    return pageResponse(page, language, footer, placeFor(language));
  };
});

/** Makes a function that says what pages for players and members depend on besides their data. */
export const makePlaceFor = Effect.gen(function* () {
  const settings = yield* PageSettings;
  const basePath = basePathOf(yield* HttpSettings);
  return (language: Language): Place => {
    const { chatName: chat, gameName: game } = platformNames(settings, language);
    const platforms = { chat, game, chatHome: settings.chatHome };
    return { basePath, wording: wordingOf(language), platforms };
  };
});

/** What people call the platforms. Those without a name of their own are named in the language of the reader. */
export const platformNames = ({ chatName, gameName }: PageSettingsShape, language: Language) => {
  const unnamed = PageSettings.defaultValue();
  return {
    chatName: chatName === unnamed.chatName ? language.text("platform.chat") : chatName,
    gameName: gameName === unnamed.gameName ? language.text("platform.game") : gameName,
  };
};

import {
  basePathOf,
  type HttpResponse,
  HttpSettings,
  type RequestContext,
} from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { footerHtml } from "./footer.ts";
import type { Language } from "./languages/language.ts";
import { Languages, offerFor } from "./languages/reader_language.ts";
import { type Page, pageResponse } from "./page.ts";
import { PageSettings, type PageSettingsShape } from "./page_settings.ts";

/** A request for a page, and the language in which the page answers. */
export interface PageContext extends RequestContext {
  readonly language: Language;
}

/** Makes a function that renders a page in the language of its reader, who can choose another. */
export const makeRender = Effect.gen(function* () {
  const settings = yield* PageSettings;
  const basePath = basePathOf(yield* HttpSettings);
  const languages = yield* Languages;
  return (page: Page, context: PageContext): HttpResponse => {
    const { language, request, requestId } = context;
    const [, query = ""] = request.url.split("?", 2);
    const { address = request.method === "POST" ? "/" : `?${query}` } = page;
    const choice = offerFor(languages, context).choice(language, address);
    return pageResponse(page, language, footerHtml(language, settings, requestId, choice), basePath);
  };
});

/** What the pages need of the deployment and their reader: the language, and the names of the platforms in it. */
export interface Reader extends PageSettingsShape {
  readonly language: Language;
}

/** Platforms without a name of their own are named in the language of the reader. */
export const readerOf = (settings: PageSettingsShape, language: Language): Reader => {
  const unnamed = PageSettings.defaultValue();
  const { chatName, gameName } = settings;
  return {
    ...settings,
    language,
    chatName: chatName === unnamed.chatName ? language.text("platform.chat") : chatName,
    gameName: gameName === unnamed.gameName ? language.text("platform.game") : gameName,
  };
};

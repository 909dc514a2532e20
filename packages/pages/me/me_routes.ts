/** The routes where users see and remove their own data. */
import { type Pid, RequestLimits, SessionSettings, UserData } from "@accountlink/core";
import type { ChatId } from "@accountlink/core/ids";
import { Profiles } from "@accountlink/core/platforms";
import { OwnLinks, OwnSightings, UserExports } from "@accountlink/core/users";
import { HttpSettings, privateHeaders, textResponse } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { chatCard } from "../account_card.ts";
import type { Language } from "../languages/language.ts";
import { browserCookie } from "../page_cookie.ts";
import { readerOf } from "../page_render.ts";
import { PageSettings } from "../page_settings.ts";
import { makeSiteRoutes } from "../sign_ins/site_routes.ts";
import {
  confirmation,
  dataPage,
  erasedPage,
  erasePage,
  exportPage,
  forgottenPage,
  notLinkedPage,
  removedPage,
  unconfirmedPage,
} from "./pages.ts";

export const meRoutes = Effect.gen(function* () {
  const site = yield* makeSiteRoutes("me");
  const ownLinks = yield* OwnLinks;
  const ownSightings = yield* OwnSightings;
  const users = yield* UserData;
  const exports = yield* UserExports;
  const limits = yield* RequestLimits;
  const profiles = yield* Profiles;
  const settings = yield* PageSettings;
  const { publicUrl } = yield* HttpSettings;
  const markCookie = browserCookie(publicUrl, (yield* SessionSettings).sightingRetention);

  const cardOf = (chatId: ChatId, language: Language) =>
    Effect.map(profiles.chat(chatId, null), (profile) => chatCard({ id: chatId, profile }, language));

  const routes = [
    ...site.routes,

    site.page("/me", ({ context, signIn: { chatId }, csrf }) =>
      Effect.map(
        Effect.all([cardOf(chatId, context.language), ownLinks.list(chatId), ownSightings.list(chatId)], {
          concurrency: 3,
        }),
        ([user, links, seen]) =>
          site.render(
            dataPage({ user, links, ...seen }, readerOf(settings, context.language), csrf),
            context,
          ),
      ),
    ),

    site.page("/me/export", ({ context, csrf }) =>
      Effect.succeed(site.render(exportPage(context.language, csrf), context)),
    ),

    site.form("/me/export", ({ signIn: { chatId } }) =>
      Effect.map(Effect.andThen(limits.admitExport(chatId), exports.of(chatId)), (data) =>
        textResponse(200, JSON.stringify(data, null, 2), "application/json", {
          ...privateHeaders,
          "content-disposition": 'attachment; filename="my_data.json"',
        }),
      ),
    ),

    site.form("/me/addresses/forget", ({ context, signIn: { chatId } }) =>
      Effect.map(ownSightings.forget(chatId, "addresses"), () =>
        site.render(forgottenPage("addresses", context.language), context),
      ),
    ),

    site.form("/me/browsers/forget", ({ context, signIn: { chatId } }) =>
      // Clear the cookie by which the service recognizes this browser. When the user next confirms a link in this
      // browser, the service sets a new cookie.
      Effect.map(ownSightings.forget(chatId, "browsers"), () =>
        markCookie.clear(site.render(forgottenPage("browsers", context.language), context)),
      ),
    ),

    site.form("/me/remove", ({ context, signIn: { chatId } }, fields) => {
      const pid = (fields.get("pid") ?? "") as Pid;
      return ownLinks.remove(chatId, pid, context.requestId).pipe(
        Effect.map((link) => removedPage(link, context.language)),
        Effect.catchTag("LinkNotFound", () => Effect.succeed(notLinkedPage(context.language))),
        Effect.map((page) => site.render(page, context)),
      );
    }),

    site.page("/me/erase", ({ context, signIn: { chatId }, csrf }) =>
      Effect.map(
        Effect.all([cardOf(chatId, context.language), users.previewErasure(chatId)], { concurrency: 2 }),
        ([user, found]) => site.render(erasePage(user, found, context.language, csrf), context),
      ),
    ),

    site.form("/me/erase", ({ context, signIn: { chatId } }, fields) => {
      if (fields.get("confirm") !== confirmation) {
        return Effect.succeed(site.render(unconfirmedPage(context.language), context));
      }
      const actor = { type: "user", id: chatId } as const;
      return Effect.map(users.erase(chatId, { actor, requestId: context.requestId }), (erased) =>
        site.signedOut(site.render(erasedPage(erased, context.language), context)),
      );
    }),
  ];
  return { routes, keylessAnswer: site.keylessAnswer };
});

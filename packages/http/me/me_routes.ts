/**
 * The routes on which users see and remove what is known of them.
 */
import { type Pid, UserData } from "@accountlink/core";
import type { ChatId } from "@accountlink/core/ids";
import { Profiles } from "@accountlink/core/platforms";
import { OwnLinks } from "@accountlink/core/users";
import { Effect } from "effect";
import { chatCard } from "../pages/account_card.ts";
import { PageSettings } from "../pages/page_settings.ts";
import { makeSiteRoutes } from "../sign_ins/site_routes.ts";
import {
  confirmation,
  erasedPage,
  erasePage,
  linksPage,
  notLinkedPage,
  removedPage,
  unconfirmedPage,
} from "./pages.ts";

export const meRoutes = Effect.gen(function* () {
  const site = yield* makeSiteRoutes("me");
  const ownLinks = yield* OwnLinks;
  const users = yield* UserData;
  const profiles = yield* Profiles;
  const settings = yield* PageSettings;

  const cardOf = (chatId: ChatId) =>
    Effect.map(profiles.chat(chatId, null), (profile) => chatCard({ id: chatId, profile }));

  const routes = [
    ...site.routes,

    site.page("/me", ({ context, signIn: { chatId }, csrf }) =>
      Effect.map(Effect.all([cardOf(chatId), ownLinks.list(chatId)], { concurrency: 2 }), ([user, links]) =>
        site.render(linksPage(user, links, settings, csrf), context),
      ),
    ),

    site.form("/me/remove", ({ context, signIn: { chatId } }, fields) => {
      const pid = (fields.get("pid") ?? "") as Pid;
      return ownLinks.remove(chatId, pid, context.requestId).pipe(
        Effect.map(removedPage),
        Effect.catchTag("LinkNotFound", () => Effect.succeed(notLinkedPage)),
        Effect.map((page) => site.render(page, context)),
      );
    }),

    site.page("/me/erase", ({ context, signIn: { chatId }, csrf }) =>
      Effect.map(
        Effect.all([cardOf(chatId), users.previewErasure(chatId)], { concurrency: 2 }),
        ([user, found]) => site.render(erasePage(user, found, csrf), context),
      ),
    ),

    site.form("/me/erase", ({ context, signIn: { chatId } }, fields) => {
      if (fields.get("confirm") !== confirmation) {
        return Effect.succeed(site.render(unconfirmedPage, context));
      }
      const actor = { type: "user", id: chatId } as const;
      return Effect.map(users.erase(chatId, { actor, requestId: context.requestId }), (erased) =>
        site.signedOut(site.render(erasedPage(erased), context)),
      );
    }),
  ];
  return { routes, visit: site.visit };
});

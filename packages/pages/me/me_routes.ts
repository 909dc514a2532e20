/** The routes where users see and remove their own data. */

import { type Pid, RequestLimits, SessionSettings, UserData, VerificationFlows } from "@accountlink/core";
import { isGenerated } from "@accountlink/core/communities";
import { unkeyed } from "@accountlink/core/idempotency";
import type { ChatId } from "@accountlink/core/ids";
import { shownName } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { Profiles } from "@accountlink/core/platforms";
import { makeLostWithLink } from "@accountlink/core/roles";
import { RequestPlaces } from "@accountlink/core/turns";
import { type ErasedAccount, OwnLinks, OwnSightings, UserExports } from "@accountlink/core/users";
import { HttpResponse, HttpSettings, privateHeaders } from "@accountlink/http/for_pages";
import { Effect, Stream } from "effect";
import { flowPath } from "../flow/flow_form.ts";
import { refusalPage } from "../flow/refusals.ts";
import { browserCookie, flowCookie } from "../page_cookie.ts";
import { asEffect, redirectTo } from "../page_requests.ts";
import { readInPlace } from "../page_turns.ts";
import { makeSiteRoutes } from "../sign_ins/site_routes.ts";
import {
  type AccountToErase,
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
  const places = yield* RequestPlaces;
  const page: typeof site.page = (path, answer) =>
    site.page(path, (visitor) =>
      readInPlace(places, { account: visitor.signIn.chatId }, asEffect(answer(visitor))),
    );
  const ownLinks = yield* OwnLinks;
  const ownSightings = yield* OwnSightings;
  const users = yield* UserData;
  const exports = yield* UserExports;
  const flows = yield* VerificationFlows;
  const limits = yield* RequestLimits;
  const profiles = yield* Profiles;
  const { publicUrl } = yield* HttpSettings;
  const lostWithLink = yield* makeLostWithLink;
  const cookie = flowCookie(publicUrl);
  const markCookie = browserCookie(publicUrl, (yield* SessionSettings).sightingRetention);

  const accountOf = (id: ChatId) => Effect.map(profiles.chat(id, null), (profile) => ({ id, profile }));

  const nameOf = (chatId: ChatId) =>
    Effect.map(accountOf(chatId), ({ profile }) => profile?.displayName ?? profile?.username ?? chatId);

  /** Names an account and its members. The names that the service makes for accounts mean nothing to users. */
  const named = Effect.fnUntraced(function* (erased: ErasedAccount) {
    const { account, isOwn, left } = erased;
    const name = shownName(account);
    const owner = isOwn || account.chatId === null ? null : yield* nameOf(account.chatId);
    return {
      ...erased,
      name: isGenerated(name) ? null : name,
      owner,
      members: yield* forEachLimited(left, 8, ({ chatId }) => nameOf(chatId)),
    } satisfies AccountToErase;
  });

  const routes = [
    ...site.routes,

    page("/me", function* ({ context: { request }, signIn: { chatId, guilds } }) {
      const from = fromOf(request.url);
      const links = yield* ownLinks.list(chatId, from);
      const [user, lost, known, seen] = yield* Effect.all(
        [
          accountOf(chatId),
          lostWithLink(
            links.links.map(({ pid }) => pid),
            chatId,
          ),
          flows.listKnown(
            chatId,
            (guilds ?? []).map(({ id }) => id),
          ),
          ownSightings.list(chatId),
        ],
        { concurrency: "unbounded" },
      );
      const data = { user, ...links, lost, from, known: { ...known, isAsked: guilds !== null }, ...seen };
      return dataPage(data);
    }),

    site.form("/me/link", ({ signIn: { chatId } }, fields) => {
      const [pid, guildId] = [fields.get("in") ?? "", fields.get("guildId") ?? ""];
      const entry = { pid, guildId: guildId === "" ? null : guildId, redirect: null };
      return flows.beginKnown(chatId, entry, fields.get("gameId") ?? "").pipe(
        Effect.map((begun) => cookie.write(redirectTo(303, flowPath(begun.entry)), begun.cookie)),
        Effect.catchTag("FlowRefused", (refused) => Effect.succeed(refusalPage(refused))),
      );
    }),

    page("/me/export", () => Effect.succeed(exportPage)),

    site.form("/me/export", function* ({ signIn: { chatId } }) {
      yield* limits.admitExport(chatId);
      const headers = {
        ...privateHeaders,
        "content-type": "application/json",
        "content-disposition": 'attachment; filename="my_data.json"',
      };
      const chunks = Stream.encodeText(Stream.orDie(yield* exports.json(chatId, 2)));
      return new HttpResponse(200, headers, { chunks, release: Effect.void });
    }),

    site.form("/me/addresses/forget", ({ signIn: { chatId } }) =>
      Effect.as(ownSightings.forget(chatId, "addresses"), forgottenPage("addresses")),
    ),

    site.form("/me/browsers/forget", function* ({ context, signIn: { chatId } }) {
      yield* ownSightings.forget(chatId, "browsers");
      // Clear the cookie by which the service recognizes this browser. When the user next confirms a link in this
      // browser, the service sets a new cookie.
      return markCookie.clear(site.render(forgottenPage("browsers"), context));
    }),

    site.form("/me/remove", function* ({ context: { requestId }, signIn: { chatId } }, fields) {
      const pid = (fields.get("pid") ?? "") as Pid;
      const { sightings, browsers } = yield* ownSightings.count(chatId);
      const hasPlaces = sightings + browsers > 0;
      return yield* unkeyed(ownLinks.remove(chatId, pid, requestId, { gameId: fields.get("seen") })).pipe(
        Effect.map((link) => removedPage(link, hasPlaces)),
        Effect.catchTag("LinkNotFound", () => Effect.succeed(notLinkedPage)),
      );
    }),

    page("/me/erase", function* ({ signIn: { chatId } }) {
      const [user, found] = yield* Effect.all([accountOf(chatId), users.previewErasure(chatId)], {
        concurrency: "unbounded",
      });
      const accounts = yield* Effect.forEach(found.accounts, named);
      const lost = yield* lostWithLink(found.pids, chatId);
      return erasePage(user, { ...found, accounts, lost });
    }),

    site.form("/me/erase", function* ({ context, signIn: { chatId } }, fields) {
      if (fields.get("confirm") !== confirmation) return unconfirmedPage;
      const actor = { type: "user", id: chatId } as const;
      // Count each address and browser once, as /me lists them: stores keep them for each community.
      const counts = yield* ownSightings.count(chatId);
      const erased = yield* users.erase(chatId, { actor, requestId: context.requestId });
      return site.signedOut(site.render(erasedPage({ ...erased, ...counts }), context));
    }),
  ];
  return { routes, keylessAnswer: site.keylessAnswer };
});

/** The number of links before the page. */
const fromOf = (url: string): number => {
  const from = new URLSearchParams(url.split("?", 2)[1]).get("from") ?? "";
  return /^\d{1,6}$/.test(from) ? Number(from) : 0;
};

/** The page of new links that probably belong to somebody with another account. */
import type { ChatId } from "@accountlink/core";
import {
  type FoundSuspect,
  makeAltQueue,
  queueDays,
  type SuspectedLink,
  severityOf,
} from "@accountlink/core/alts";
import type { Millis } from "@accountlink/core/timestamp";
import { Clock, Effect } from "effect";
import { type Html, html, to } from "../../html.ts";
import { PageSettings } from "../../page_settings.ts";
import { makeAccountNames } from "../audit/entry_names.ts";
import { type Community, communityMenu, makeCommunities, noCommunityPage } from "../communities/community.ts";
import type { Fields } from "../form_fields.ts";
import { filtersOf } from "../look/field.ts";
import { type AccountNames, communityName, listText, nameIn, platforms } from "../look/names.ts";
import { say, tags } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import type { OwnerPages, OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, userPath, withQuery } from "../paths.ts";
import { selfOf } from "./alt_operations.ts";
import { isOf, premiumNote, reason, tones, verdictForm } from "./alts_page.ts";

const shownLinks = 30;

export const newAltsRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const queueOf = yield* makeAltQueue;
  const communities = yield* makeCommunities;
  const namesIn = yield* makeAccountNames;
  const { contact } = yield* PageSettings;

  const list = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const { all, community } = yield* communities.choose(visitor, fields("pid"));
    if (community === undefined) return noCommunityPage("alts", say("alts.new"), say("alts.no_community"));
    const isPremium = visitor.owner.account.tier === "premium";
    const now = yield* Clock.currentTimeMillis;
    const found = isPremium ? yield* queueOf(community.scope) : [];
    const shown = found.slice(0, shownLinks);
    const names = yield* namesIn(
      shown
        .flat()
        .flatMap(({ chatId, gameId, otherChatId }) => [{ chatId, gameId }, { chatId: otherChatId }]),
    );
    const { pid } = community.scope;
    const isMore = found.length > shown.length;
    return {
      title: say("alts.new"),
      within: all.length > 1 && communityName(community),
      section: "alts",
      content: html`
<p>${say("alts.new.intro", { days: queueDays })}</p>
${
  all.length > 1 &&
  filtersOf(paths.newAlts, say("alts.show"))`
${communityMenu(all, pid)}`
}
${isPremium ? linksHtml({ community, shown, names, now, isMore }, visitor) : premiumNote(contact)}
<p class="more"><a href="${to(withQuery(paths.alts, { pid }))}">${say("alts.look_other")}</a></p>`,
    } satisfies Page;
  });

  return [page(paths.newAlts, list)];
});

interface LinksView {
  readonly community: Community;
  readonly shown: ReadonlyArray<SuspectedLink>;
  readonly names: AccountNames;
  readonly now: Millis;
  readonly isMore: boolean;
}

const linksHtml = (view: LinksView, visitor: OwnerVisitor): Html =>
  view.shown.length === 0
    ? html`<p class="empty">${say("alts.new.none", { list: listText(view.community) })}</p>`
    : html`<ul class="cards" role="list">${view.shown.map((pairs) => linkHtml(pairs, view, visitor))}</ul>
${view.isMore ? html`<p>${say("alts.new.more", { most: numberHtml(shownLinks) })}</p>` : null}`;

const linkHtml = (pairs: SuspectedLink, view: LinksView, visitor: OwnerVisitor): Html => {
  const [{ chatId, gameId, at, score }] = pairs;
  const { pid } = view.community.scope;
  const severity = severityOf(score);
  return html`<li>
<h2>${userLink(chatId, view)} <span class="badge ${tones[severity]}">${say(`alts.severity.${severity}`)}</span></h2>
<p>${say("alts.new.linked", { account: nameIn(view.names.games, gameId), platform: platforms.game, time: timeHtml(at) })}</p>
${pairs.map((pair) => pairHtml(pair, view, visitor))}
<p><a class="button quiet small" href="${to(withQuery(paths.block, { pid, chatId }))}">${say("alts.block", { unseen: tags.unseen, id: chatId })}</a></p>
</li>`;
};

const userLink = (chatId: ChatId, { community, names }: LinksView): Html =>
  html`<a href="${to(userPath(community.scope.pid, chatId))}">${nameIn(names.chats, chatId)}</a>`;

const pairHtml = (pair: FoundSuspect, view: LinksView, visitor: OwnerVisitor): Html => {
  const { otherChatId, score, evidence, verdict } = pair;
  return html`<p>${
    verdict === null
      ? say("alts.new.like", { user: userLink(otherChatId, view), score: numberHtml(score) })
      : say("alts.new.decided", { user: userLink(otherChatId, view) })
  }</p>
<ul>${evidence.map((each) => html`<li>${reason(each, view.now)}</li>`)}</ul>
${verdict === null ? decision(pair, view, visitor) : null}`;
};

const decision = (
  { chatId, otherChatId }: FoundSuspect,
  { community }: LinksView,
  visitor: OwnerVisitor,
): Html =>
  isOf({ chatId, otherChatId }, selfOf(visitor))
    ? html`<p class="hint">${say("alts.own")}</p>`
    : verdictForm({ pid: community.scope.pid, chatId, otherChatId, from: "new" });

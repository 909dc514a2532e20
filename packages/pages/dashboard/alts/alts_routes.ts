import { AltDetection, AltReviews, AuditLog, type ChatId, type DataScope, guildOf } from "@accountlink/core";
import {
  type AltQuery,
  type AltReview,
  type FoundSuspect,
  makeAltQueue,
  queueDays,
  type SuspectedLink,
  severityOf,
} from "@accountlink/core/alts";
import { usersOf } from "@accountlink/core/audit";
import { InvalidParameter } from "@accountlink/core/errors";
import { isChatId } from "@accountlink/core/ids";
import { OwnedLinks } from "@accountlink/core/owners";
import type { Millis } from "@accountlink/core/timestamp";
import type { HttpResponse } from "@accountlink/http/for_pages";
import { statusOf } from "@accountlink/http-api";
import { Clock, Effect } from "effect";
import { type Html, html, to } from "../../html.ts";
import { PageSettings } from "../../page_settings.ts";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { jsonRoutes } from "../api_pipeline.ts";
import { makeAccountNames } from "../audit/entry_names.ts";
import { type Community, communityMenu, makeCommunities, noCommunityPage } from "../communities/community.ts";
import type { Fields } from "../form_fields.ts";
import { filtersOf } from "../look/field.ts";
import {
  type AccountNames,
  communityName,
  errorSentence,
  listText,
  nameIn,
  platforms,
} from "../look/names.ts";
import { orShowAgain, type Refused } from "../look/refused.ts";
import { say, tags } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import { type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, userPath, withQuery } from "../paths.ts";
import { makeAltOperations, selfOf } from "./alt_operations.ts";
import {
  type AltsForm,
  type AltsFound,
  altsPage,
  emptyAltsForm,
  isOf,
  premiumNote,
  reason,
  tones,
  verdictForm,
} from "./alts_page.ts";

/** The maximum number of reviews that `AltReviews` lists for a user. */
const mostReviews = 100;

export const altPages = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const operations = yield* makeAltOperations;
  const communities = yield* makeCommunities;
  const detection = yield* AltDetection;
  const reviews = yield* AltReviews;
  const links = yield* OwnedLinks;
  const log = yield* AuditLog;
  const { contact } = yield* PageSettings;
  const namesIn = yield* makeAccountNames;

  const meant = Effect.fnUntraced(function* (scope: DataScope, { kind, id }: AltsForm) {
    const [chatId = null] = kind === "chat" ? yield* links.chatsMeant(scope, id) : [];
    const [gameId = null] = kind === "game" ? yield* links.gamesMeant(id) : [];
    if (chatId !== null || gameId !== null) return { chatId, gameId, address: null } satisfies AltQuery;
    return yield* InvalidParameter.one("id", { is: "known_user" });
  });

  /** Reads the audit log for the members who wrote reviews: their chat IDs, by the other user of each review. */
  const reviewersOf = Effect.fnUntraced(function* (
    { account, pid }: DataScope,
    chatId: ChatId,
    said: ReadonlyArray<AltReview>,
  ) {
    const filter = { action: "review.set", keyId: null, chatId, pid } as const;
    const entries = said.length === 0 ? [] : (yield* log.list(account, null, mostReviews, filter)).entries;
    return new Map(
      said.flatMap(({ otherChatId, at }) => {
        const made = entries.find((entry) => entry.at === at && usersOf(entry).includes(otherChatId));
        const member = made?.actor.type === "account" ? made.actor.member : null;
        return isChatId(member) ? [[otherChatId, member] as const] : [];
      }),
    );
  });

  const find = Effect.fnUntraced(function* (visitor: OwnerVisitor, scope: DataScope, typed: AltsForm) {
    const query = yield* meant(scope, typed);
    const guildId = guildOf(scope);
    const report = yield* detection.detect(scope, query, {
      guildId,
      resolved: true,
      unknownMembers: "leave out",
    });
    const { chatId } = report.target;
    const said = chatId === null ? [] : yield* reviews.list({ scope, guildId }, chatId);
    const reviewers = chatId === null ? new Map<ChatId, ChatId>() : yield* reviewersOf(scope, chatId, said);
    const named =
      chatId === null ? [] : [chatId, ...said.map(({ otherChatId }) => otherChatId), ...reviewers.values()];
    const { chats: names } = yield* namesIn(named.map((id) => ({ chatId: id })));
    return {
      report,
      reviews: said,
      names,
      reviewers,
      pid: scope.pid,
      self: selfOf(visitor),
    } satisfies AltsFound;
  });

  /** Searches for the typed user, and renders the page with the result or the problems of the form. */
  const answer = Effect.fnUntraced(function* (visitor: OwnerVisitor, typed: AltsForm) {
    const { all, community } = yield* communities.choose(visitor, typed.pid);
    const view = { contact, communities: all };
    const isAsked = typed.id !== "" && visitor.owner.account.tier === "premium";
    if (!isAsked || community === undefined) return altsPage(typed, view, visitor);
    return yield* orForm(
      Effect.map(find(visitor, community.scope, typed), (found) =>
        altsPage(typed, { ...view, found }, visitor),
      ),
      (refused) => Effect.succeed(altsPage(typed, { ...view, refused }, visitor)),
    );
  });

  /** A form without a verdict deletes the review. */
  const review = (visitor: OwnerVisitor, fields: Fields) =>
    fields("verdict") === ""
      ? Effect.as(operations.forget.submit(visitor, fields), "forgotten" as const)
      : Effect.as(operations.review.submit(visitor, fields), "reviewed" as const);

  return [
    ...jsonRoutes(operations),
    page(paths.alts, (visitor, query) => answer(visitor, typedForm(query))),
    form(paths.altReviews, (visitor, fields) => {
      const typed = typedForm(fields);
      return orForm(
        Effect.map(review(visitor, fields), (done) =>
          fields("from") === "new"
            ? seeOther(paths.newAlts, { pid: typed.pid, done })
            : seeOther(paths.alts, { ...typed, done }),
        ),
        (refused) =>
          Effect.map(communities.list(visitor), (all) =>
            altsPage(typed, { contact, communities: all, refused }, visitor),
          ),
      );
    }),
  ];
});

/** Shows the form again with the reason if it was refused. No field of the form chooses the guild that refuses a user. */
const orForm = (
  answer: Effect.Effect<Page | HttpResponse, SiteError>,
  show: (refused: Refused) => Effect.Effect<Page, SiteError>,
) =>
  orShowAgain(answer, (refused) => show({ ...refused, general: refused.general ?? say("alts.values") }), [
    "MissingParameter",
    "InvalidParameter",
    "Conflict",
    "PlatformUnavailable",
  ]).pipe(
    Effect.catchTag("Forbidden", (error) =>
      show({ status: statusOf(error), problems: [], general: errorSentence(error) }),
    ),
  );

const typedForm = (fields: Fields): AltsForm => ({
  pid: fields("pid"),
  kind: fields("kind") === "game" ? "game" : emptyAltsForm.kind,
  id: fields("id").trim(),
});

/** The page of new links shows at most this many that probably belong to somebody with another account. */
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

/** The page of links: of one list, sorted by time or by name, or what a search finds in all lists. */

import { ChatId, guildOf } from "@accountlink/core";
import type { PlatformUnavailable } from "@accountlink/core/errors";
import { forEachLimited } from "@accountlink/core/limited_loops";
import type { NewestPosition } from "@accountlink/core/links";
import { type LinkPage, mostSorted, OwnedLinks } from "@accountlink/core/owners";
import { Profiles } from "@accountlink/core/platforms";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { DashboardCommunities } from "@accountlink/http-api";
import { Effect } from "effect";
import { type Html, html, type Problem, section, to } from "../../html.ts";
import { type Community, makeCommunities, noCommunityPage } from "../communities/community.ts";
import type { Fields } from "../form_fields.ts";
import { placeIn } from "../form_values.ts";
import { filtersOf, textField } from "../look/field.ts";
import { communityName, idOrName, platforms } from "../look/names.ts";
import { capitalised, say } from "../look/say.ts";
import { dayMsOf, numberHtml } from "../look/time.ts";
import { type OwnerVisitor, pageNumber } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import { cursorOf } from "./link_operations.ts";
import {
  byName,
  type LinkForm,
  type LinkSort,
  type LinksView,
  linksPage,
  linksTable,
  searchedFor,
  shownUnlinked,
  unlinkedNotice,
} from "./links_page.ts";
import { makeMemberListWait } from "./member_list_wait.ts";

const pageSize = 25;

const foundPerList = 10;

export const makeLinksList = Effect.gen(function* () {
  const links = yield* OwnedLinks;
  const profiles = yield* Profiles;
  const waitForMembers = yield* makeMemberListWait;
  const communities = yield* makeCommunities;

  const list = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    fields: Fields,
    typed: LinkForm,
    problems: ReadonlyArray<Problem>,
  ) {
    const { all, community } = yield* communities.chooseCounted(visitor, fields("pid"));
    if (community === undefined) return noCommunityPage("links", say("menu.links"), say("links.none"));
    const search = fields("q").trim();
    if (search !== "" && fields("pid") === "" && all.length > 1) return yield* foundIn(visitor, search);
    const sort: LinkSort = fields("sort") === "name" ? "name" : "time";
    const day = dayMsOf(fields("day")) === null ? "" : fields("day");
    const named = sort === "name" ? yield* pageByName(community, search, fields) : null;
    const shared = { communities: all, community, search, sort, day, named };
    const { place, direction } = startOf(fields);
    const sorted = named !== null && "pages" in named ? { ...named, next: null, previous: null } : null;
    const found = sorted ?? (yield* links.page(community.scope, search, place, pageSize, direction));
    const view = {
      ...shared,
      ...(yield* shownOf(found)),
      ...(named !== null && sorted === null && { links: found.links.toSorted(byName) }),
      ...(fields("direction") === "oldest" && { next: null }),
      previous: found.previous && cursorOf(found.previous),
    };
    return linksPage(view, typed, problems);
  });

  /** Returns a page of the links sorted by name, or why each page of the list is sorted for itself. */
  const pageByName = Effect.fnUntraced(function* ({ scope }: Community, search: string, fields: Fields) {
    const guildId = guildOf(scope);
    if (guildId === null)
      return { reason: capitalised(say("links.names_of_one", { platform: platforms.chat })) };
    const found = yield* Effect.catchTag(
      waitForMembers(guildId, links.pageByName(scope, search, pageNumber(fields("page")), pageSize)),
      "PlatformUnavailable",
      () => Effect.succeed({ reason: noAnswer("chat") }),
    );
    return found ?? { reason: say("links.too_many", { most: numberHtml(mostSorted) }) };
  });

  const foundIn = Effect.fnUntraced(function* (visitor: OwnerVisitor, search: string) {
    const { open, silent: unread, failed } = yield* communities.listOpen(visitor);
    const scopes = open.map(({ scope }) => scope);
    const firsts = yield* links.firstIn(scopes, search, foundPerList);
    // A list that the platform cannot search for beginnings of names also shows who was found in the other lists.
    const chatIds = [...new Set(firsts.flatMap((first) => first.links.map(({ link }) => link.chatId)))];
    const found = yield* forEachLimited(
      open,
      4,
      Effect.fnUntraced(function* (community, index) {
        const { scope } = community;
        const own = firsts[index] ?? { links: [], next: null, unlinked: [], failed: null };
        const isByOthers = own.links.length === 0 && own.unlinked.length === 0;
        const listed = isByOthers ? yield* links.findMany(scope, chatIds.slice(0, foundPerList)) : own.links;
        const silent = own.failed && own.failed.platform;
        return { community, isByOthers, silent, ...(yield* shownOf({ ...own, links: listed })) };
      }),
    );
    if (failed === null) return foundPage(search, found);
    if (found.every(isEmpty)) return yield* failed;
    const nobody = { isByOthers: false, silent: failed.platform, links: [], next: null, unlinked: [] };
    return foundPage(search, [...found, ...unread.map((community) => ({ ...nobody, community }))]);
  });

  const shownOf = Effect.fnUntraced(function* ({ links: found, next, unlinked }: Omit<LinkPage, "previous">) {
    return {
      links: found,
      next: next && cursorOf(next),
      unlinked: yield* Effect.forEach(unlinked.slice(0, shownUnlinked + 1), (chatId) =>
        Effect.map(profiles.chat(chatId, null), (chat) => ({ chatId, chat })),
      ),
    };
  });

  return list;
});

/** Returns where the page of a list begins: at a cursor, at the end of the list, after a day, or at the newest link. */
const startOf = (
  fields: Fields,
): { readonly place: NewestPosition | null; readonly direction: "newer" | "older" } => {
  const direction = fields("direction");
  if (direction === "oldest") return { place: beyond(-1), direction: "newer" };
  const day = dayMsOf(fields("day"));
  const cursor = placeIn(fields, DashboardCommunities.getLinks);
  const afterDay = day === null ? null : beyond(day + dayMs);
  return {
    place: cursor === null ? afterDay : { lastVerifiedAt: cursor.at, chatId: cursor.chatId },
    direction: direction === "newer" ? "newer" : "older",
  };
};

/** A position between the links that were verified before and after a time. */
const beyond = (lastVerifiedAt: Millis): NewestPosition => ({ lastVerifiedAt, chatId: ChatId.make("00000") });

const noAnswer = (platform: PlatformUnavailable["platform"]): Html =>
  capitalised(say("links.no_answer", { platform: platforms[platform] }));

interface Found extends Pick<LinksView, "links" | "next" | "unlinked"> {
  readonly community: Community;
  /** Whether the links were found by the users of other lists, because the search itself found nobody here. */
  readonly isByOthers: boolean;
  /** The platform that did not answer the search. */
  readonly silent: PlatformUnavailable["platform"] | null;
}

/** The results of a search in all lists: links, and users without a link. */
const foundPage = (search: string, found: ReadonlyArray<Found>): Page => ({
  title: say("links.search"),
  section: "links",
  content: html`
${filtersOf(paths.links, say("links.search"), "search")`
${textField({ name: "q", label: say("links.find_all"), hint: idOrName(null), type: "search", value: search })}`}
${
  found.every(isEmpty)
    ? html`<p class="empty">${say("links.nobody_for", { search })}</p>`
    : html`${found
        .filter((one) => !isEmpty(one))
        .map(({ community, isByOthers, silent, links, next, unlinked }) => {
          const { pid } = community.scope;
          return section(communityName(community))`
<p class="hint">${
            silent === null
              ? say(isByOthers ? "links.searched_others" : "links.searched_by", {
                  searched: searchedFor(community),
                })
              : noAnswer(silent)
          }</p>
${unlinkedNotice(pid, unlinked)}
${links.length > 0 && linksTable({ community, links, search, named: null })}
${
  next &&
  html`<p class="more"><a class="button quiet" href="${to(withQuery(paths.links, { pid, q: search }))}">${say("links.all_found")}</a></p>`
}`;
        })}`
}
${nobodyIn(found.filter(isEmpty))}`,
});

const isEmpty = ({ links, unlinked }: Found): boolean => links.length + unlinked.length === 0;

/** Names the lists in which nobody was found, and says how each was searched. */
const nobodyIn = (lists: ReadonlyArray<Found>): Html | false =>
  lists.length > 0 &&
  section(say("links.nobody_in"))`<ul>${lists.map(({ community, silent }) => {
    const list = communityName(community);
    return silent === null
      ? html`<li>${say("links.nobody_in.list", { list, searched: searchedFor(community) })}</li>`
      : html`<li>${list}: ${noAnswer(silent)}</li>`;
  })}</ul>`;

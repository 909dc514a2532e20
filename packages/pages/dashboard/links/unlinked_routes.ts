/** The page of the members of a guild who have not linked an account. */
import { guildOf } from "@accountlink/core";
import { isChatId } from "@accountlink/core/ids";
import {
  type ListProgress,
  type MemberPlace,
  UnlinkedMembers,
  type UnlinkedPage,
} from "@accountlink/core/owners";
import { Effect } from "effect";
import { type Html, html, to } from "../../html.ts";
import { type Community, communityMenu, makeCommunities, noCommunityPage } from "../communities/community.ts";
import { textField } from "../look/field.ts";
import { communityName } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { plain, say, tags } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { ageAgoHtml, dayHtml, durationHtml, numberHtml } from "../look/time.ts";
import { type Fields, type OwnerPages, type OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { channelsPath, may, paths, userPath, withQuery } from "../paths.ts";
import { memberCursorOf } from "./link_operations.ts";
import { accountText } from "./links_page.ts";
import { makeMemberListWait, type NotListed, progressText } from "./member_list_wait.ts";

const pageSize = 50;

/** From this age on, in milliseconds, the page says how old the list is. */
const fresh = 60_000;

export const unlinkedRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const members = yield* UnlinkedMembers;
  const waitForMembers = yield* makeMemberListWait;
  const communities = yield* makeCommunities;

  const list = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const all = (yield* communities.list(visitor)).filter(({ scope }) => guildOf(scope) !== null);
    const community = fields("pid") === "" ? all[0] : all.find(({ scope }) => scope.pid === fields("pid"));
    const guildId = community === undefined ? null : guildOf(community.scope);
    if (community === undefined || guildId === null)
      return noCommunityPage("links", say("unlinked.title"), say("unlinked.none"), visitor);
    const search = fields("q").trim();
    const found = yield* waitForMembers(
      guildId,
      members.page(community.scope, guildId, search, placeOf(fields("cursor")), pageSize),
    );
    return unlinkedPage(all, community, search, found, visitor);
  });

  return [page(paths.unlinked, list)];
});

const placeOf = (cursor: string): MemberPlace | null => {
  const [at = "", chatId] = cursor.split("-");
  return /^\d{1,15}$/.test(at) && isChatId(chatId) ? { at: Number(at), chatId } : null;
};

const unlinkedPage = (
  all: ReadonlyArray<Community>,
  community: Community,
  search: string,
  found: UnlinkedPage | NotListed,
  visitor: OwnerVisitor,
): Page => {
  const { pid } = community.scope;
  return {
    isWorded: true,
    title: say("unlinked.title"),
    section: "links",
    ...("reading" in found ? { refreshSeconds: 3 } : {}),
    content: html`
<form method="get" action="${to(paths.unlinked)}" class="filters" role="search">
${all.length < 2 ? html`<input type="hidden" name="pid" value="${pid}">` : communityMenu(all, pid)}
${textField({ name: "q", label: say("links.find"), hint: say("unlinked.find.hint"), type: "search", value: search })}
<button class="button quiet">${say("links.search")}</button>
</form>
${
  "reason" in found
    ? statusHtml(found.reason, "bad")
    : "reading" in found
      ? readingHtml(found.reading)
      : foundHtml(community, search, found, visitor)
}`,
  };
};

const readingHtml = (progress: ListProgress): Html => html`
<div data-live="2">
<p>${say("unlinked.reading", { progress: progressText(progress) })}</p>
<progress aria-label="${plain(say("unlinked.read"))}"${progress.total === 0 ? null : html` max="${progress.total}" value="${progress.done}"`}></progress>
</div>`;

const foundHtml = (
  community: Community,
  search: string,
  found: UnlinkedPage,
  visitor: OwnerVisitor,
): Html => {
  const { platforms, context } = visitor;
  const { pid } = community.scope;
  const now = context.clock.currentTimeMillisUnsafe();
  const name = communityName(community);
  return html`
<p class="figure">${say("unlinked.figure", {
    b: tags.b,
    linked: numberHtml(found.linked),
    total: numberHtml(found.total),
    community: name,
  })}${
    now - found.readAt < fresh
      ? null
      : html` ${say("unlinked.age", { age: durationHtml(now - found.readAt) })}`
  }</p>
${may(
  visitor,
  paths.communities,
  html`<p>${say("unlinked.panel", { a: (content) => html`<a href="${to(channelsPath(pid))}#panel">${content}</a>` })}</p>`,
)}
${
  found.members.length === 0
    ? html`<p class="empty">${search === "" ? say("unlinked.everybody") : say("unlinked.nobody", { search })}</p>`
    : tableHtml({
        id: "unlinked",
        caption: say("unlinked.caption", { community: name }),
        columns: [
          say("links.account_on", { platform: platforms.chat }),
          say("unlinked.since"),
          say("unlinked.reminded"),
        ],
        rows: found.members.map((member) => {
          const { at, reminded } = member;
          return [
            html`<a href="${to(userPath(pid, member.chatId))}">${accountText(member.chatId, member)}</a>${
              member.username === null ? null : html` <small>@${member.username}</small>`
            }`,
            at === 0 ? "–" : html`${dayHtml(at)} <small>${ageAgoHtml(at, now)}</small>`,
            reminded === null ? "–" : dayHtml(reminded),
          ];
        }),
      })
}
${
  found.next &&
  html`<p class="more"><a class="button quiet" rel="next"
    href="${to(withQuery(paths.unlinked, { pid, q: search, cursor: memberCursorOf(found.next) }))}">${say("unlinked.more")}</a></p>`
}`;
};

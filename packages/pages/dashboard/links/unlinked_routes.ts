/** The page of the members of a guild who have not linked an account. */
import { type DataScope, guildOf } from "@accountlink/core";
import {
  type ListProgress,
  type MemberOrder,
  UnlinkedMembers,
  type UnlinkedPage,
} from "@accountlink/core/owners";
import { DashboardCommunities } from "@accountlink/http-api";
import { Effect } from "effect";
import { type Html, html, to } from "../../html.ts";
import { makeCommunities, noCommunityPage } from "../communities/community.ts";
import type { Fields } from "../form_fields.ts";
import { placeIn } from "../form_values.ts";
import { filtersOf, menuField, textField } from "../look/field.ts";
import { platforms, userNameHtml } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { progressBar, progressText } from "../look/progress.ts";
import { linkTo, say, tags } from "../look/say.ts";
import { nextPage, tableHtml } from "../look/table.ts";
import { ageAgoHtml, dayHtml, durationHtml, numberHtml } from "../look/time.ts";
import { type OwnerPages, type OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { channelsPath, may, paths, rolesPath, userPath, withQuery } from "../paths.ts";
import { type AskedGuild, makeAskedLists } from "./asked_lists.ts";
import { memberCursorOf } from "./link_operations.ts";
import { accountText } from "./links_page.ts";
import { makeMemberListWait, type NotListed } from "./member_list_wait.ts";

const pageSize = 50;

/** From this age on, in milliseconds, the page says how old the list is. */
const fresh = 60_000;

export const unlinkedRoutes = Effect.fnUntraced(function* ({ page }: OwnerPages) {
  const members = yield* UnlinkedMembers;
  const waitForMembers = yield* makeMemberListWait;
  const communities = yield* makeCommunities;
  const asked = yield* makeAskedLists;

  const list = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const lists = yield* communities.list(visitor);
    const guilds = yield* asked.guilds(lists);
    const ofPid = lists.find(({ scope }) => scope.pid === fields("pid"));
    const guildId = fields("guildId") || (ofPid === undefined ? null : guildOf(ofPid.scope));
    const isNone = fields("guildId") === "" && fields("pid") === "";
    const guild = isNone ? guilds[0] : guilds.find((each) => each.guildId === guildId);
    const scope = guild === undefined ? null : yield* asked.listOf(lists, guild.guildId);
    if (guild === undefined || scope === null)
      return noCommunityPage("links", say("unlinked.title"), say("unlinked.none"));
    const search = fields("q").trim();
    const order = fields("order") === "oldest" ? "oldest" : "newest";
    const place = placeIn(fields, DashboardCommunities.getUnlinked);
    const found = yield* waitForMembers(
      guild.guildId,
      members.page(scope, guild.guildId, search, place, pageSize, order),
    );
    return unlinkedPage({ guilds, guild, scope, search, order, found }, visitor);
  });

  return [page(paths.unlinked, list)];
});

interface UnlinkedView {
  readonly guilds: ReadonlyArray<AskedGuild>;
  readonly guild: AskedGuild;
  /** The list that the rules of the guild ask. */
  readonly scope: DataScope;
  readonly search: string;
  readonly order: MemberOrder;
  readonly found: UnlinkedPage | NotListed;
}

const unlinkedPage = (view: UnlinkedView, visitor: OwnerVisitor): Page => {
  const { guilds, guild, search, order, found } = view;
  return {
    title: say("unlinked.title"),
    within: guilds.length > 1 && guild.name,
    section: "links",
    ...("reading" in found ? { refreshSeconds: 3 } : {}),
    content: html`
${filtersOf(paths.unlinked, say("links.search"), "search")`
${
  guilds.length < 2
    ? html`<input type="hidden" name="guildId" value="${guild.guildId}">`
    : menuField({
        name: "guildId",
        label: say("alts.community"),
        value: guild.guildId,
        choices: guilds.map((each) => ({ value: each.guildId, label: each.name })),
      })
}
${textField({ name: "q", label: say("links.find"), hint: say("unlinked.find.hint"), type: "search", value: search })}
${menuField({
  name: "order",
  label: say("links.order"),
  value: order,
  choices: [
    { value: "newest", label: say("unlinked.newest") },
    { value: "oldest", label: say("unlinked.oldest") },
  ],
})}`}
${
  "reason" in found
    ? statusHtml(found.reason, "bad")
    : "reading" in found
      ? readingHtml(found.reading)
      : foundHtml({ ...view, found }, visitor)
}`,
  };
};

const readingHtml = (progress: ListProgress): Html => html`
<div data-live="2">
<p>${say("unlinked.reading", { progress: progressText(progress) })}</p>
${progressBar(say("unlinked.read"), progress)}
</div>`;

const foundHtml = (
  { guild: { guildId, name }, scope, search, order, found }: UnlinkedView & { readonly found: UnlinkedPage },
  visitor: OwnerVisitor,
): Html => {
  const { pid } = scope;
  const now = visitor.context.clock.currentTimeMillisUnsafe();
  const ofGuild = { guildId: scope.kind === "global" ? guildId : null };
  return html`
<p class="figure">${say("unlinked.figure", {
    b: tags.b,
    linked: numberHtml(found.linked),
    total: numberHtml(found.total),
    community: name,
  })}${
    now - found.readAt >= fresh && html` ${say("unlinked.age", { age: durationHtml(now - found.readAt) })}`
  }${scope.kind === "global" ? html` ${say("unlinked.shared")}` : null}</p>
${may(
  paths.communities,
  html`<p>${say("unlinked.panel", { a: linkTo(`${withQuery(channelsPath(pid), ofGuild)}#panel`) })} ${say("unlinked.remove", { a: linkTo(withQuery(rolesPath(pid), ofGuild)), platform: platforms.chat })}</p>`,
)}
${tableHtml({
  id: "unlinked",
  caption: say(`unlinked.caption.${order}`, { community: name }),
  columns: [
    [
      say("links.account_on", { platform: platforms.chat }),
      (member) =>
        html`<a href="${to(userPath(pid, member.chatId))}">${accountText(member.chatId, member)}</a>${
          member.username !== null && html` <small>${userNameHtml(member.username)}</small>`
        }${member.isBlocked ? html` <span class="badge bad">${say("user.blocked")}</span>` : null}`,
    ],
    [
      say("unlinked.since"),
      ({ at }) => (at === 0 ? "–" : html`${dayHtml(at)} <small>${ageAgoHtml(at, now)}</small>`),
    ],
    [say("unlinked.reminded"), ({ reminded }) => (reminded === null ? "–" : dayHtml(reminded))],
  ],
  rows: found.members,
  empty: search === "" ? say("unlinked.everybody") : say("unlinked.nobody", { search }),
})}
${nextPage(found.next && withQuery(paths.unlinked, { guildId, q: search, order: order === "oldest" ? order : null, cursor: memberCursorOf(found.next) }), say("unlinked.more"))}`;
};

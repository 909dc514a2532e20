/** The links of a community: their number, a search, and the newest links, a page at a time. */
import type { ChatId, Link, Pid } from "@accountlink/core";
import { compareNames, visibleName } from "@accountlink/core/name_text";
import { type NamedLink, type NamedPage, sumCounts } from "@accountlink/core/owners";
import type { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { type Html, html, type Problem, to } from "../../html.ts";
import { type Community, type CountedCommunity, communityField } from "../communities/community.ts";
import { menuField, panelTo, textField } from "../look/field.ts";
import {
  byPlatforms,
  communityName,
  countNote,
  countText,
  idOrName,
  linksText,
  listText,
  platforms,
  userNameHtml,
  withId,
} from "../look/names.ts";
import { progressText } from "../look/progress.ts";
import { refusedFor } from "../look/refused.ts";
import { plain, say, tags } from "../look/say.ts";
import { tableHtml } from "../look/table.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { may, paths, userPath, withQuery } from "../paths.ts";
import { type NotListed } from "./member_list_wait.ts";

/** A CSV file that also contains the names of users has at most this many links of each community. */
export const mostNamed = 1_000;

export interface LinksView {
  readonly communities: ReadonlyArray<CountedCommunity>;
  readonly community: CountedCommunity;
  readonly search: string;
  readonly sort: LinkSort;
  /** The UTC day with which the list begins; empty for the newest links. */
  readonly day: string;
  readonly links: ReadonlyArray<NamedLink>;
  readonly next: string | null;
  readonly previous: string | null;
  readonly unlinked: ReadonlyArray<UnlinkedUser>;
  /**
   * How the links are sorted by name; null if they are sorted by time. Names are not stored: without the list of
   * members, each page is sorted for itself.
   */
  readonly named: NamedPage | NotListed | null;
}

export type LinkSort = "time" | "name";

export interface UnlinkedUser {
  readonly chatId: ChatId;
  readonly chat: ChatProfile | null;
}

export interface LinkForm {
  readonly chat: string;
  readonly game: string;
}

export const emptyLinkForm: LinkForm = { chat: "", game: "" };

export const linkLabels = {
  chat: say("links.account_on", { platform: platforms.chat }),
  game: say("links.account_on", { platform: platforms.game }),
} as const;

type Named = Pick<ChatProfile | GameProfile, "displayName" | "username">;

export const accountText = (id: string, profile: Named | null): string => {
  const name = visibleName(profile);
  return name === null ? id : withId(name, id);
};

/** Sorts links by the names on the chat platform; users without a name come last. */
export const byName = (one: NamedLink, other: NamedLink): number =>
  compareNames(visibleName(one.chat), visibleName(other.chat));

const accountCell = (id: string, profile: Named | null, path: string | null): Html => {
  const known = visibleName(profile);
  const name = known ?? id;
  const username = profile?.username ?? null;
  return html`<strong>${path === null ? name : html`<a href="${to(path)}">${name}</a>`}</strong>${
    known !== null && html` <small>${userNameHtml(username, id)}</small>`
  }`;
};

export const unlinkPath = (pid: Pid, chatId: ChatId): string => withQuery(paths.unlink, { pid, chatId });

export const linksPage = (view: LinksView, form: LinkForm, problems: ReadonlyArray<Problem>): Page => {
  const { community } = view;
  const { pid } = community.scope;
  return {
    title: say("menu.links"),
    within: view.communities.length > 1 && communityName(community),
    section: "links",
    list: listText(community),
    ...(view.named !== null && "reading" in view.named ? { refreshSeconds: 3 } : {}),
    refused: refusedFor(problems),
    labels: linkLabels,
    content: html`
<p class="figure">${figureText(view)}</p>
${searchForm(view)}
${listed(view)}
${pager(view)}
${may(paths.linksFile, files(view))}
<p class="more"><a href="${to(withQuery(paths.unlinked, { pid: community.scope.kind === "guild" ? pid : null }))}">${say("links.unlinked")}</a> · <a href="${to(withQuery(paths.blocks, { pid }))}">${say("links.blocked")}</a></p>
<details${problems.length > 0 && html` open`}>
<summary>${say("links.link_user")}</summary>
${panelTo(paths.link, { pid })`
${textField({ name: "chat", label: linkLabels.chat, hint: idOrName("chat"), value: form.chat, required: true })}
${textField({ name: "game", label: linkLabels.game, hint: idOrName("game"), value: form.game, required: true })}
<button class="button">${say("links.link")}</button>`}
</details>`,
  };
};

/** Says how many links the list has, when they were counted, and how many all lists together have. */
const figureText = ({ communities, community }: LinksView): Html => {
  const here = { b: tags.b, links: linksText(community.links), list: listText(community) };
  const note = countNote(community.links);
  const all = countText(sumCounts(communities.map(({ links }) => links)));
  const figure = note === null ? "figure" : "figure_noted";
  return say(communities.length < 2 ? `links.${figure}` : `links.${figure}_all`, {
    ...here,
    all,
    note: note ?? "",
  });
};

const searchForm = ({ communities, community, search, sort, day }: LinksView): Html => html`
<form method="get" action="${to(paths.links)}" class="filters" role="search">
${communityField(communities, community.scope.pid)}
${textField({ name: "q", label: say("links.find"), hint: searchedFor(community), type: "search", value: search })}
<button class="button quiet">${say("links.search")}</button>
<details${(sort !== "time" || day !== "") && html` open`}>
<summary>${say("links.order_and_day")}</summary>
${menuField({ name: "sort", label: say("links.order"), value: sort, choices: sorts })}
${textField({ name: "day", label: say("links.until"), hint: say("links.until.hint"), type: "date", value: day })}
</details>
</form>`;

const sorts: ReadonlyArray<{ readonly value: LinkSort; readonly label: Html }> = [
  { value: "time", label: say("links.by_time") },
  { value: "name", label: say("links.by_name") },
];

/** Says what a search in a list compares. Only a community's own list can be searched for beginnings of names. */
export const searchedFor = ({ scope }: Community): Html =>
  byPlatforms(({ hasGameNames }) => {
    if (hasGameNames) return say(scope.kind === "guild" ? "links.searched_members" : "links.searched");
    const key = scope.kind === "guild" ? "links.searched_members_on" : "links.id_or_name_on";
    return say(key, { platform: platforms.chat });
  });

const listed = (view: LinksView): Html => {
  const { community, search, links, unlinked } = view;
  const { pid } = community.scope;
  if (links.length === 0 && unlinked.length === 0) {
    return html`<p class="empty">${
      search === ""
        ? say("links.nobody")
        : say("links.nobody_found", { search, searched: searchedFor(community) })
    }</p>`;
  }
  return html`
${unlinkedNotice(pid, unlinked)}
${links.length > 0 && linksTable(view)}`;
};

export const shownUnlinked = 10;

/** Lists the found users who have no link, and says if there are more. */
export const unlinkedNotice = (pid: Pid, unlinked: ReadonlyArray<UnlinkedUser>): Html | false =>
  unlinked.length > 0 &&
  html`<div class="notice warn"><p>${say("links.without")}</p><ul>${unlinked
    .slice(0, shownUnlinked)
    .map(
      ({ chatId, chat }) =>
        html`<li><a href="${to(userPath(pid, chatId))}">${accountText(chatId, chat)}</a></li>`,
    )}</ul>${unlinked.length > shownUnlinked ? html`<p>${say("links.without_more", { count: shownUnlinked })}</p>` : null}</div>`;

export const linksTable = (
  view: Pick<LinksView, "links" | "search" | "named"> & { readonly community: Community },
): Html => {
  const { community, links, search, named } = view;
  const { pid } = community.scope;
  const order = named === null ? "time" : "pages" in named ? "name" : "page";
  const isUnnamed = links.some((link) => visibleName(link.chat) === null || visibleName(link.game) === null);
  const form = `selected-${pid}`;
  const table = tableHtml({
    id: `links-${pid}`,
    caption:
      search === ""
        ? say(`links.caption.${order}`, { list: listText(community) })
        : say(`links.caption_found.${order}`, { list: listText(community), search }),
    columns: [
      [
        linkLabels.chat,
        ({ link: { chatId }, chat }) =>
          html`<span class="choice"><input type="checkbox" form="${form}" name="chatId" value="${chatId}"
          aria-label="${plain(say("links.select", { name: accountText(chatId, chat) }))}"><span>${accountCell(chatId, chat, userPath(pid, chatId))}</span></span>`,
      ],
      [linkLabels.game, ({ link, game }) => accountCell(link.gameId, game, null)],
      [say("links.linked_or_verified"), ({ link }) => verifiedText(link)],
      [
        say("links.actions"),
        ({ link: { chatId }, chat }) =>
          html`<a class="bad" href="${to(unlinkPath(pid, chatId))}">${say("links.unlink", { unseen: tags.unseen, name: accountText(chatId, chat) })}</a>`,
        "unseen",
      ],
    ],
    rows: links,
  });
  return html`${named && orderNote(named)}${
    isUnnamed ? html`<p class="hint">${say("links.unnamed")}</p>` : null
  }${table}
<form method="get" action="${to(paths.unlink)}" id="${form}" class="more">
<input type="hidden" name="pid" value="${pid}">
${links.length > 1 && html`<label class="choice" hidden><input type="checkbox" data-ticks="${form}"> ${say("links.tick_all")}</label>`}
<button class="button quiet small">${say("links.unlink_selected")}</button>
</form>`;
};

const orderNote = (named: NamedPage | NotListed): Html => {
  if ("reading" in named) {
    return html`<p class="hint" data-live="2">${say("links.sorting", { progress: progressText(named.reading) })}</p>`;
  }
  if ("reason" in named) {
    return html`<p class="hint">${say("links.not_sorted", { reason: named.reason })}</p>`;
  }
  const { unnamed, sortedAt } = named;
  return html`<p class="hint">${
    unnamed === 0
      ? say("links.sorted", { time: timeHtml(sortedAt) })
      : say("links.sorted_left", { time: timeHtml(sortedAt), count: unnamed })
  }</p>`;
};

export const verifiedText = ({ lastVerifiedAt, proof }: Link): Html =>
  proof === null
    ? timeHtml(lastVerifiedAt)
    : html`${say(`proof.${proof}`)} <small>${timeHtml(lastVerifiedAt)}</small>`;

const namePager = ({ community, search }: LinksView, { page, pages }: NamedPage): Html | null => {
  const button = (number: number, label: Html, rel = "") =>
    html`<a class="button quiet"${rel !== "" && html` rel="${rel}"`}
      href="${to(withQuery(paths.links, { pid: community.scope.pid, q: search, sort: "name", page: String(number) }))}">${label}</a> `;
  return pages === 1
    ? null
    : html`<p class="more">
${page !== 1 && html`${button(1, say("links.first"))}${button(page - 1, say("links.previous"), "prev")}`}${say("links.page", { page: numberHtml(page), pages: numberHtml(pages) })}
${page !== pages && html`${button(page + 1, say("links.next"), "next")}${button(pages, say("links.last"))}`}</p>`;
};

const pager = (view: LinksView): Html | null => {
  const { community, search, sort, next, previous, named } = view;
  if (named !== null && "pages" in named) return namePager(view, named);
  const path = (cursor: string, direction: string) =>
    withQuery(paths.links, { pid: community.scope.pid, q: search, sort, cursor, direction });
  const { pid } = community.scope;
  return next === null && previous === null
    ? null
    : html`<p class="more">
${
  previous &&
  html`<a class="button quiet" href="${to(path("", ""))}">${say("links.newest")}</a>
    <a class="button quiet" rel="prev" href="${to(path(previous, "newer"))}">${say("links.newer")}</a>`
}
${
  next &&
  html`<a class="button quiet" rel="next" href="${to(path(next, "older"))}">${say("links.older")}</a>
    <a class="button quiet" href="${to(path("", "oldest"))}">${say("links.oldest")}</a>`
}
${
  search !== "" &&
  html`<a class="button quiet" href="${to(withQuery(paths.unlink, { pid, q: search }))}">${say("links.unlink_found")}</a>`
}
</p>`;
};

const files = ({ communities, community }: LinksView): Html => {
  const { pid } = community.scope;
  const list = listText(community);
  return html`
<details>
<summary>${say("links.download")}</summary>
<ul>
<li><a href="${to(withQuery(paths.linksFile, { pid }))}">${say("links.file", { list })}</a></li>
<li><a href="${to(withQuery(paths.linksFile, { pid, names: "true" }))}">${say("links.file_named", { list })}</a></li>
${
  communities.length > 1 &&
  html`<li><a href="${to(withQuery(paths.linksFile, { pid: "all" }))}">${say("links.files")}</a></li>
<li><a href="${to(withQuery(paths.linksFile, { pid: "all", names: "true" }))}">${say("links.files_named")}</a></li>`
}
</ul>
<p class="hint">${say("links.file.hint", { most: numberHtml(mostNamed) })}</p>
</details>`;
};

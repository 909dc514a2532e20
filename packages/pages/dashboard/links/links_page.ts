/** The links of a community: their number, a search, and the newest links, a page at a time. */
import type { ChatId, Link, Pid } from "@accountlink/core";
import type { LinkProof } from "@accountlink/core/links";
import { compareNames, visibleName } from "@accountlink/core/name_text";
import { type NamedLink, type NamedPage, sumCounts } from "@accountlink/core/owners";
import type { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { formTo, type Html, html, to } from "../../html.ts";
import { type Community, communityField } from "../communities/community.ts";
import { menuField, textField } from "../look/field.ts";
import { countNote, countText, linksText, listText, type PlatformNames, withId } from "../look/names.ts";
import type { Problem } from "../look/reasons.ts";
import { refusedFor } from "../look/refused.ts";
import { tableHtml } from "../look/table.ts";
import { counted, numberText, timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { may, paths, withQuery } from "../paths.ts";
import { type NotListed, progressText } from "./member_list_wait.ts";

/** A CSV file that also contains the names of users has at most this many links of each community. */
export const mostNamed = 1_000;

export interface LinksView {
  readonly communities: ReadonlyArray<Community>;
  readonly community: Community;
  readonly search: string;
  readonly sort: LinkSort;
  /** The UTC day with which the list begins; empty for the newest links. */
  readonly day: string;
  readonly links: ReadonlyArray<NamedLink>;
  /** Cursor of the older links; null on the last page. */
  readonly next: string | null;
  /** Cursor of the newer links; null on the first page. */
  readonly previous: string | null;
  /** Users without a link who match the search. */
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

export const linkLabels = ({ chat, game }: PlatformNames) => ({
  chat: `Account on ${chat}`,
  game: `Account on ${game}`,
});

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
    known === null ? null : html` <small>${username === null ? null : `@${username} · `}${id}</small>`
  }`;
};

export const userPath = (pid: Pid | null, chatId: ChatId): string =>
  withQuery(paths.linkUser, { pid, chatId });

export const unlinkPath = (pid: Pid, chatId: ChatId): string => withQuery(paths.unlink, { pid, chatId });

export const linksPage = (
  view: LinksView,
  form: LinkForm,
  { platforms, ...reader }: Pick<Visitor, "platforms" | "role" | "scopes">,
  problems: ReadonlyArray<Problem>,
): Page => {
  const { community } = view;
  const { pid } = community.scope;
  const labels = linkLabels(platforms);
  const note = countNote(community.links);
  return {
    title: "Links",
    section: "links",
    ...(view.named !== null && "reading" in view.named ? { refreshSeconds: 3 } : {}),
    refused: refusedFor(problems),
    labels,
    content: html`
<p class="figure"><strong>${linksText(community.links)}</strong> in
${listText(community)}${note === null ? null : html`, ${note}`}${totalNote(view)}</p>
${searchForm(view)}
${listed(view, labels)}
${pager(view)}
${may(reader, paths.linksFile, files(view))}
<p class="more">${
      community.scope.kind === "guild"
        ? html`<a href="${to(withQuery(paths.unlinked, { pid }))}">Members who have not linked</a> · `
        : null
    }<a href="${to(withQuery(paths.blocks, { pid }))}">Blocked users</a></p>
<details${problems.length === 0 ? null : html` open`}>
<summary>Link a user</summary>
${formTo(paths.link, html` class="panel"`)}
<input type="hidden" name="pid" value="${pid}">
${textField({ name: "chat", label: labels.chat, hint: "ID or user name.", value: form.chat, required: true, problems })}
${textField({ name: "game", label: labels.game, hint: "ID or user name.", value: form.game, required: true, problems })}
<button class="button">Link the accounts</button>
</form>
</details>`,
  };
};

/** Says how many links all lists together have; null if there is only one list. */
const totalNote = ({ communities }: LinksView): Html | null =>
  communities.length < 2
    ? null
    : html`; ${countText(sumCounts(communities.map(({ links }) => links)))} in all lists`;

const searchForm = ({ communities, community, search, sort, day }: LinksView): Html => html`
<form method="get" action="${to(paths.links)}" class="filters" role="search">
${communityField(communities, community.scope.pid)}
${textField({ name: "q", label: "Find", hint: searchedFor(community), type: "search", value: search })}
<button class="button quiet">Search</button>
<details${sort === "time" && day === "" ? null : html` open`}>
<summary>Order and day</summary>
${menuField({ name: "sort", label: "Order", value: sort, choices: sorts })}
${textField({ name: "day", label: "Verified until", hint: "Day in UTC, for the order of time", type: "date", value: day })}
</details>
</form>`;

const sorts: ReadonlyArray<{ readonly value: LinkSort; readonly label: string }> = [
  { value: "time", label: "Latest verification first" },
  { value: "name", label: "By name" },
];

/** Says what a search in a list compares. Only a community's own list can be searched for beginnings of names. */
export const searchedFor = ({ scope }: Community): string =>
  scope.kind === "guild"
    ? "ID, whole user name, or the beginning of a member’s name"
    : "ID or whole user name";

type LinkLabels = ReturnType<typeof linkLabels>;

const listed = (view: LinksView, labels: LinkLabels): Html => {
  const { community, search, links, unlinked } = view;
  const { pid } = community.scope;
  if (links.length === 0 && unlinked.length === 0) {
    return html`<p class="empty">${
      search === ""
        ? "Nobody is linked yet."
        : `Nobody was found for “${search}” by ${searchedFor(community)}.`
    }</p>`;
  }
  return html`
${unlinkedNotice(pid, unlinked)}
${links.length === 0 ? null : linksTable(view, labels)}`;
};

/** Lists the found users who have no link. */
export const unlinkedNotice = (pid: Pid, unlinked: ReadonlyArray<UnlinkedUser>): Html | null =>
  unlinked.length === 0
    ? null
    : html`<div class="notice warn"><p>Without a link here:</p><ul>${unlinked.map(
        ({ chatId, chat }) =>
          html`<li><a href="${to(userPath(pid, chatId))}">${accountText(chatId, chat)}</a></li>`,
      )}</ul></div>`;

export const linksTable = (
  view: Pick<LinksView, "community" | "links" | "search" | "named">,
  { chat: chatLabel, game: gameLabel }: LinkLabels,
): Html => {
  const { community, links, search, named } = view;
  const { pid } = community.scope;
  const order =
    named === null ? "latest verification first" : "pages" in named ? "by name" : "this page by name";
  const isUnnamed = links.some((link) => visibleName(link.chat) === null || visibleName(link.game) === null);
  const form = `selected-${pid}`;
  const table = tableHtml({
    id: `links-${pid}`,
    caption: html`Links in ${listText(community)}${search === "" ? "" : ` found by “${search}”`}, ${order}`,
    columns: [chatLabel, gameLabel, "Last verified", { label: "Actions", isUnseen: true }],
    rows: links.map(({ link, chat, game }) => {
      const { chatId, gameId } = link;
      const name = accountText(chatId, chat);
      return [
        html`<span class="choice"><input type="checkbox" form="${form}" name="chatId" value="${chatId}"
          aria-label="Select ${name}"><span>${accountCell(chatId, chat, userPath(pid, chatId))}</span></span>`,
        accountCell(gameId, game, null),
        verifiedText(link),
        html`<a class="bad" href="${to(unlinkPath(pid, chatId))}">Unlink<span class="unseen"> ${name}</span></a>`,
      ];
    }),
  });
  return html`${named && orderNote(named)}${
    isUnnamed
      ? html`<p class="hint">An account is shown by its ID alone where its platform gave no name: it was deleted, or the
        platform did not answer.</p>`
      : null
  }${table}
<form method="get" action="${to(paths.unlink)}" id="${form}" class="more">
<input type="hidden" name="pid" value="${pid}">
${links.length < 2 ? null : html`<label class="choice" hidden><input type="checkbox" data-ticks="${form}"> Tick all on this page</label>`}
<button class="button quiet small">Unlink the selected</button>
</form>`;
};

const orderNote = (named: NamedPage | NotListed): Html => {
  if ("reading" in named) {
    return html`<p class="hint" data-live="2">The list is sorted when the names of all members are here:
      ${progressText(named.reading)}. Until then each page is sorted for itself.</p>`;
  }
  if ("reason" in named) {
    return html`<p class="hint">Each page is sorted for itself, and the pages follow each other by the latest
      verification. ${named.reason}</p>`;
  }
  const { unnamed, sortedAt } = named;
  return html`<p class="hint">All pages were sorted by name at ${timeHtml(sortedAt)}, and are sorted anew after five minutes.${
    unnamed === 0
      ? null
      : ` ${counted(unnamed, "user")} who left the community ${unnamed === 1 ? "is" : "are"} last, by ID.`
  }</p>`;
};

export const verifiedText = ({ lastVerifiedAt, proof }: Link): Html =>
  proof === null
    ? timeHtml(lastVerifiedAt)
    : html`${proofLabels[proof]} <small>${timeHtml(lastVerifiedAt)}</small>`;

/** How a link was last confirmed, in words of the dashboard. */
const proofLabels: Readonly<Record<NonNullable<LinkProof>, string>> = {
  connection: "Verified by a connected account",
  oauth: "Verified by signing in",
  words: "Verified by words",
  session: "Verified by the game",
  known: "Verified earlier, for another community",
  hand: "Linked by hand",
  import: "Imported, never verified by its owner",
};

/** The buttons of a list sorted by name. */
const namePager = ({ community, search }: LinksView, { page, pages }: NamedPage): Html | null => {
  const button = (number: number, label: string, rel = "") =>
    html`<a class="button quiet"${rel === "" ? null : html` rel="${rel}"`}
      href="${to(withQuery(paths.links, { pid: community.scope.pid, q: search, sort: "name", page: String(number) }))}">${label}</a> `;
  return pages === 1
    ? null
    : html`<p class="more">
${page === 1 ? null : html`${button(1, "First")}${button(page - 1, "Previous", "prev")}`}Page ${numberText(page)} of ${numberText(pages)}
${page === pages ? null : html`${button(page + 1, "Next", "next")}${button(pages, "Last")}`}</p>`;
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
  html`<a class="button quiet" href="${to(path("", ""))}">Newest</a>
    <a class="button quiet" rel="prev" href="${to(path(previous, "newer"))}">Newer links</a>`
}
${
  next &&
  html`<a class="button quiet" rel="next" href="${to(path(next, "older"))}">Older links</a>
    <a class="button quiet" href="${to(path("", "oldest"))}">Oldest</a>`
}
${
  search === ""
    ? null
    : html`<a class="button quiet" href="${to(withQuery(paths.unlink, { pid, q: search }))}">Unlink all that were found</a>`
}
</p>`;
};

const files = ({ communities, community: { scope } }: LinksView): Html => html`
<details>
<summary>Download as CSV</summary>
<ul>
<li><a href="${to(withQuery(paths.linksFile, { pid: scope.pid }))}">All links of this list</a></li>
<li><a href="${to(withQuery(paths.linksFile, { pid: scope.pid, names: "true" }))}">The newest links of this list, with names</a></li>
${
  communities.length < 2
    ? null
    : html`<li><a href="${to(withQuery(paths.linksFile, { pid: "all" }))}">All links of every list</a></li>
<li><a href="${to(withQuery(paths.linksFile, { pid: "all", names: "true" }))}">The newest links of every list, with names</a></li>`
}
</ul>
<p class="hint">A file with names has up to ${numberText(mostNamed)} links of a list, because each name is asked of the platforms.</p>
</details>`;

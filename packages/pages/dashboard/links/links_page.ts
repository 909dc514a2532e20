/** The links of a community: their number, a search, and the newest links. */
import type { ChatId, Pid } from "@accountlink/core";
import { type NamedLink, sumCounts } from "@accountlink/core/communities";
import type { ParameterProblem } from "@accountlink/core/errors";
import type { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { type Html, html } from "../../html.ts";
import { type Community, communityField } from "../communities/community.ts";
import { csrfField, problemSummary, textField } from "../look/field.ts";
import { countNote, countText, linksText } from "../look/link_count.ts";
import { listText } from "../look/list_name.ts";
import { tableHtml } from "../look/table.ts";
import { timeHtml } from "../look/time.ts";
import type { Page, PlatformNames, Visitor } from "../page.ts";
import { may, paths, withQuery } from "../paths.ts";

export interface LinksView {
  readonly communities: ReadonlyArray<Community>;
  readonly community: Community;
  readonly search: string;
  readonly links: ReadonlyArray<NamedLink>;
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null;
  /** Users without a link who match the search. */
  readonly unlinked: ReadonlyArray<{ readonly chatId: ChatId; readonly chat: ChatProfile | null }>;
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

export const accountText = (
  id: string,
  profile: Pick<ChatProfile | GameProfile, "displayName" | "username"> | null,
): string => {
  const name = profile?.displayName ?? profile?.username ?? null;
  return name === null ? id : `${name} (${id})`;
};

const accountCell = (id: string, profile: Pick<GameProfile, "displayName" | "username"> | null): Html => {
  const { displayName = null, username = null } = profile ?? {};
  return html`<strong>${displayName ?? username ?? id}</strong> <small>${username === null ? null : `@${username} · `}${id}</small>`;
};

export const userPath = (pid: Pid | null, chatId: ChatId): string =>
  withQuery(paths.linkUser, { pid, chatId });

export const unlinkPath = (pid: Pid, chatId: ChatId): string => withQuery(paths.unlink, { pid, chatId });

/** @param notice the result of an action; null for none */
export const linksPage = (
  view: LinksView,
  form: LinkForm,
  { csrf, platforms, role }: Pick<Visitor, "csrf" | "platforms" | "role">,
  notice: Html | null,
  problems: ReadonlyArray<ParameterProblem>,
): Page => {
  const { community, search, next } = view;
  const { pid } = community.scope;
  const labels = linkLabels(platforms);
  const note = countNote(community.links);
  return {
    status: problems.length === 0 ? 200 : 400,
    title: "Links",
    section: "links",
    content: html`
${problems.length === 0 ? notice : problemSummary(problems, labels, null)}
<p class="figure"><strong>${linksText(community.links)}</strong> in ${listText(community)}${note === null ? null : `, ${note}`}${totalNote(view)}</p>
${searchForm(view)}
${listed(view, labels)}
<p class="more">${next === null ? null : html`<a class="button quiet" href="${withQuery(paths.links, { pid, q: search, cursor: next })}">More links</a> `}${may(role, paths.linksFile, html`<a href="${withQuery(paths.linksFile, { pid })}">Download all as CSV</a>`)}</p>
<details${problems.length === 0 ? null : html` open`}>
<summary>Link a user</summary>
<form method="post" action="${paths.link}" class="panel">
${csrfField(csrf)}
<input type="hidden" name="pid" value="${pid}">
${textField({ name: "chat", label: labels.chat, hint: "ID or user name.", value: form.chat, required: true, problems })}
${textField({ name: "game", label: labels.game, hint: "ID or user name.", value: form.game, required: true, problems })}
<button class="button">Link the accounts</button>
</form>
</details>`,
  };
};

/** The number of links that the overview shows, where it is not the number of this list. */
const totalNote = ({ communities }: LinksView): string | null =>
  communities.length < 2
    ? null
    : `; ${countText(sumCounts(communities.map(({ links }) => links)))} in all lists`;

export const noLinksPage = ({ role }: Pick<Visitor, "role">): Page => ({
  status: 200,
  title: "Links",
  section: "links",
  content: html`
<p class="empty">There is no community yet, so there are no links. ${may(role, paths.communities, html`<a href="${paths.communities}">Add your first community</a>`)}</p>`,
});

const searchForm = ({ communities, community, search }: LinksView): Html => html`
<form method="get" action="${paths.links}" class="filters" role="search">
${communityField(communities, community.scope.pid)}
${textField({ name: "q", label: "Find", hint: "User name or ID, of either platform", type: "search", value: search, problems: [] })}
<button class="button quiet">Search</button>
</form>`;

type LinkLabels = ReturnType<typeof linkLabels>;

const listed = ({ community, search, links, unlinked }: LinksView, labels: LinkLabels): Html => {
  const { pid } = community.scope;
  if (links.length === 0 && unlinked.length === 0) {
    return html`<p class="empty">${search === "" ? "Nobody is linked yet." : `Nobody was found for “${search}”. Enter the whole user name or ID.`}</p>`;
  }
  return html`
${unlinked.map(
  ({ chatId, chat }) =>
    html`<p class="notice warn">${accountText(chatId, chat)} has no link here. <a href="${userPath(pid, chatId)}">See the history<span class="unseen"> of ${accountText(chatId, chat)}</span></a></p>`,
)}
${links.length === 0 ? null : linksTable(pid, links, search, labels)}`;
};

const linksTable = (
  pid: Pid,
  links: ReadonlyArray<NamedLink>,
  search: string,
  { chat: chatLabel, game: gameLabel }: LinkLabels,
): Html =>
  tableHtml({
    id: "links",
    caption: search === "" ? "Links, latest verification first" : `Links found by “${search}”`,
    columns: [
      { label: chatLabel },
      { label: gameLabel },
      { label: "Last verified" },
      { label: "Actions", isUnseen: true },
    ],
    rows: links.map(({ link: { chatId, gameId, lastVerifiedAt }, chat, game }) => [
      accountCell(chatId, chat),
      accountCell(gameId, game),
      timeHtml(lastVerifiedAt),
      html`<span class="row"><a href="${userPath(pid, chatId)}">History<span class="unseen"> of ${accountText(chatId, chat)}</span></a> <a class="bad" href="${unlinkPath(pid, chatId)}">Unlink<span class="unseen"> ${accountText(chatId, chat)}</span></a></span>`,
    ]),
  });

/** One chat user of a community: the current link and its history. */
import type { ChatId } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { isByHand, type NamedLink } from "@accountlink/core/communities";
import type { ParameterProblem } from "@accountlink/core/errors";
import type { ChatProfile } from "@accountlink/core/platforms";
import type { Millis } from "@accountlink/core/timestamp";
import { type Html, html } from "../../html.ts";
import { historyHtml } from "../audit/history.ts";
import type { Names } from "../audit/sentences.ts";
import { type Community } from "../communities/community.ts";
import { visibleName } from "../look/account_name.ts";
import { textField } from "../look/field.ts";
import { listText } from "../look/list_name.ts";
import { noticeHtml } from "../look/notice.ts";
import { refusedFor } from "../look/refused.ts";
import { timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { may, paths, withQuery } from "../paths.ts";
import { accountText, linkLabels, verifiedText } from "./links_page.ts";
import { type UserList, userListsHtml } from "./user_lists.ts";

export interface LinkedUserView {
  readonly community: Community;
  readonly chatId: ChatId;
  readonly chat: ChatProfile | null;
  readonly link: NamedLink | null;
  /** All lists that have a link of the user. */
  readonly lists: ReadonlyArray<UserList>;
  /** Newest first. */
  readonly history: ReadonlyArray<AuditEntry>;
  readonly names: Names;
}

/** The link that was removed a moment ago, and can be made again. */
interface Undo {
  readonly gameId: string;
  readonly now: Millis;
}

/** @param undo the link that was just removed; null if none was */
export const linkedUserPage = (
  view: LinkedUserView,
  game: string,
  { platforms, role }: Pick<Visitor, "platforms" | "role">,
  problems: ReadonlyArray<ParameterProblem>,
  undo: Undo | null,
): Page => {
  const { community, chatId, chat, link, lists, history, names } = view;
  const { pid } = community.scope;
  const labels = linkLabels(platforms);
  return {
    title: visibleName(chat) ?? `User ${chatId}`,
    section: "links",
    refused: refusedFor(problems),
    labels,
    ...(undo && {
      notice: html`${undoForm(view, undo)}
${noticeHtml("unlinked")}`,
    }),
    content: html`
<p><a href="${withQuery(paths.links, { pid })}">All of ${listText(community)}</a></p>
<dl class="facts">
<div><dt>${labels.chat}</dt><dd>${accountText(chatId, chat)}</dd></div>
<div><dt>${labels.game}</dt><dd>${link === null ? "none: not linked" : accountText(link.link.gameId, link.game)}</dd></div>
${
  link === null
    ? null
    : html`<div><dt>Last verified</dt><dd>${verifiedText(
        link.link.lastVerifiedAt,
        history.some((entry) => isByHand(link.link, entry)),
      )}</dd></div>`
}
</dl>
${userListsHtml(lists, chatId, chat)}
<section>
<h2>What happened</h2>
${historyHtml(history, names)}
${untold(link, history)}
${may(role, paths.audit, html`<p class="more"><a href="${withQuery(paths.audit, { chatId })}">Every change in the audit log</a></p>`)}
${may(role, paths.events, html`<p class="more"><a href="${withQuery(paths.events, { pid, user: chatId })}">Events and verifications of this user</a></p>`)}
${may(role, paths.alts, html`<p class="more"><a href="${withQuery(paths.alts, { pid, kind: "chat", id: chatId })}">Possible alts of this user</a></p>`)}
</section>
<section>
<h2>${link === null ? "Link" : "Change"} in ${listText(community)}</h2>
<form method="post" action="${paths.link}" class="panel">
<input type="hidden" name="pid" value="${pid}"><input type="hidden" name="chat" value="${chatId}"><input type="hidden" name="of" value="user">
${textField({ name: "game", label: labels.game, hint: "ID or user name.", value: game, required: true, problems })}
<button class="button quiet">${link === null ? "Link" : "Link this account instead"}</button>
</form>
</section>`,
  };
};

/** A note for a link that has no audit entry. Imports, for example, log only the links that they change. */
const untold = (link: NamedLink | null, history: ReadonlyArray<AuditEntry>): Html | null =>
  link === null || history.some(({ details }) => details["gameId"] === link.link.gameId)
    ? null
    : html`<p class="hint">Linked to ${accountText(link.link.gameId, link.game)} since ${timeHtml(link.link.linkedAt)}: by an import, or before the audit log begins.</p>`;

/** The button that links the accounts again. After ten seconds it disappears, and a click asks for confirmation. */
const undoForm = ({ community, chatId }: LinkedUserView, { gameId, now }: Undo): Html => html`
<form method="post" action="${paths.link}" class="undo">
<input type="hidden" name="pid" value="${community.scope.pid}"><input type="hidden" name="of" value="user">
<input type="hidden" name="chat" value="${chatId}"><input type="hidden" name="game" value="${gameId}">
<p><button class="button quiet small" name="undo" value="${now}">Undo: link them again</button></p>
</form>`;

/** Confirmation questions before a link is created or removed; they name both accounts. */
import type { ChatId, GameId } from "@accountlink/core";
import type { NamedLink } from "@accountlink/core/communities";
import type { ChatProfile, GameProfile } from "@accountlink/core/platforms";
import { type Html, html } from "../../html.ts";
import { type Community } from "../communities/community.ts";
import { listText } from "../look/list_name.ts";
import { counted } from "../look/time.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import { accountText, userPath } from "./links_page.ts";
import type { UserList } from "./user_lists.ts";

export interface LinkQuestion {
  readonly community: Community;
  readonly chatId: ChatId;
  readonly chat: ChatProfile | null;
  readonly gameId: GameId;
  readonly game: GameProfile | null;
}

/** The game account that the chat user was linked to before. */
export interface Replaced {
  readonly gameId: GameId;
  readonly game: GameProfile | null;
}

/** @param others other lists in which the chat user is linked */
export const unlinkQuestion = (question: LinkQuestion, others: ReadonlyArray<UserList>): Page => {
  const { community, chatId, chat, gameId, game } = question;
  return {
    title: "Unlink?",
    section: "links",
    content: html`
<p>Unlink <strong>${accountText(chatId, chat)}</strong> from <strong>${accountText(gameId, game)}</strong> in ${listText(community)}?</p>
<p>Bots and games that use this list no longer see the two accounts as linked. A verification that the user has started ends. The user can verify again at any time.</p>
${others.length === 0 ? null : html`<p>The user stays linked in ${others.map((other) => listText(other.community)).join(" and ")}. <a class="bad" href="${withQuery(paths.unlinkAll, { chatId })}">Unlink in every list</a></p>`}
${answers(question, paths.unlink, html`<button class="button bad">Unlink the accounts</button>`)}`,
  };
};

/** The page that asks for confirmation before several users of a list are unlinked. */
export const unlinkSeveralQuestion = (community: Community, links: ReadonlyArray<NamedLink>): Page => {
  const { pid } = community.scope;
  return {
    title: `Unlink ${counted(links.length, "user")}?`,
    section: "links",
    content: html`
<p>Unlink these accounts in ${listText(community)}?</p>
<ul>${links.map(
      ({ link, chat, game }) =>
        html`<li><strong>${accountText(link.chatId, chat)}</strong> from <strong>${accountText(link.gameId, game)}</strong></li>`,
    )}</ul>
<p>Bots and games that use this list no longer see them as linked. Verifications that these users have started end. They can verify again at any time.</p>
<form method="post" action="${paths.unlink}">
<input type="hidden" name="pid" value="${pid}">
${links.map(({ link: { chatId } }) => html`<input type="hidden" name="chat" value="${chatId}">`)}
<p class="row"><button class="button bad">Unlink ${counted(links.length, "user")}</button> <a class="button quiet" href="${withQuery(paths.links, { pid })}">Cancel</a></p>
</form>`,
  };
};

/**
 * @param replaced the game account that the chat user is linked to so far, or null
 * @param of the page that shows a refusal: `user` for the page of the user
 */
export const linkQuestion = (question: LinkQuestion, replaced: Replaced | null, of: string): Page => {
  const { community, chatId, chat, gameId, game } = question;
  return {
    title: "Link these accounts?",
    section: "links",
    content: html`
<p>Link <strong>${accountText(chatId, chat)}</strong> to <strong>${accountText(gameId, game)}</strong> in ${listText(community)}?</p>
${replaced === null ? null : html`<p>This replaces the link to <strong>${accountText(replaced.gameId, replaced.game)}</strong>.</p>`}
<p>Neither account has been verified. Link them only if you are sure that they belong to the same person.</p>
${answers(question, paths.link, html`<input type="hidden" name="confirm" value="1"><input type="hidden" name="of" value="${of}"><button class="button">Link the accounts</button>`)}`,
  };
};

const answers = ({ community, chatId, gameId }: LinkQuestion, action: string, button: Html): Html => html`
<form method="post" action="${action}">
<input type="hidden" name="pid" value="${community.scope.pid}">
<input type="hidden" name="chat" value="${chatId}"><input type="hidden" name="game" value="${gameId}">
<p class="row">${button} <a class="button quiet" href="${userPath(community.scope.pid, chatId)}">Cancel</a></p>
</form>`;

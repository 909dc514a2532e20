/** Removes the links of a chat user in every list of the account, after a confirmation. */
import type { ChatId } from "@accountlink/core";
import { OwnedLinks } from "@accountlink/core/communities";
import { isChatId } from "@accountlink/core/ids";
import { type ChatProfile, Profiles } from "@accountlink/core/platforms";
import { Effect, Result } from "effect";
import { html } from "../../html.ts";
import { listText, messageText } from "../look/list_name.ts";
import { statusHtml } from "../look/notice.ts";
import { type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths } from "../paths.ts";
import { accountText, userPath } from "./links_page.ts";
import { makeUserLists, type UserList } from "./user_lists.ts";

export const unlinkAllRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const links = yield* OwnedLinks;
  const profiles = yield* Profiles;
  const listsOf = yield* makeUserLists;

  const ask = Effect.fnUntraced(function* (visitor: OwnerVisitor, chatId: string, failed: string | null) {
    if (!isChatId(chatId)) return seeOther(paths.links);
    const lists = yield* listsOf(visitor, chatId);
    const chat = yield* profiles.chat(chatId, null);
    return lists.length === 0
      ? seeOther(paths.links, { q: chatId })
      : unlinkAllQuestion(chatId, chat, lists, failed);
  });

  const unlink = Effect.fnUntraced(function* (visitor: OwnerVisitor, chatId: string) {
    const lists = isChatId(chatId) ? yield* listsOf(visitor, chatId) : [];
    const [first] = lists;
    if (first === undefined) return seeOther(paths.links);
    const results = yield* Effect.forEach(lists, ({ community, link: { link } }) =>
      links.remove(visitor.owner, community.scope, link.chatId).pipe(
        // Ignore a link that another request has removed meanwhile.
        Effect.catchTag("LinkNotFound", () => Effect.void),
        Effect.result,
      ),
    );
    const failure = results.find(Result.isFailure)?.failure;
    return failure === undefined
      ? seeOther(paths.linkUser, { pid: first.community.scope.pid, chatId, done: "unlinkedAll" })
      : yield* ask(visitor, chatId, `${messageText(failure)}.`);
  });

  return [
    page(paths.unlinkAll, (visitor, query) => ask(visitor, query("chatId"), null)),
    form(paths.unlinkAll, (visitor, fields) => unlink(visitor, fields("chatId"))),
  ];
});

/** @param failed why the last attempt to unlink the user failed; null before the first attempt */
const unlinkAllQuestion = (
  chatId: ChatId,
  chat: ChatProfile | null,
  lists: ReadonlyArray<UserList>,
  failed: string | null,
): Page => ({
  status: failed === null ? 200 : 409,
  title: failed === null ? "Unlink in every list?" : "Not unlinked in every list",
  section: "links",
  notice: failed === null ? null : statusHtml(failed, true),
  content: html`
<p>Unlink <strong>${accountText(chatId, chat)}</strong> from</p>
<ul>${lists.map(
    ({ community, link: { link, game } }) =>
      html`<li><strong>${accountText(link.gameId, game)}</strong> in ${listText(community)}</li>`,
  )}</ul>
<p>No bot and no game of yours then sees the user as linked. Verifications that the user has started end. The user can verify again at any time.</p>
<form method="post" action="${paths.unlinkAll}">
<input type="hidden" name="chatId" value="${chatId}">
<p class="row"><button class="button bad">Unlink in every list</button> <a class="button quiet" href="${userPath(lists[0]?.community.scope.pid ?? null, chatId)}">Cancel</a></p>
</form>`,
});

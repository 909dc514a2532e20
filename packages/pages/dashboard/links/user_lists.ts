/** The lists that have a link of a chat user, with a button for each list and one for all. */
import type { ChatId } from "@accountlink/core";
import { type NamedLink, OwnedLinks } from "@accountlink/core/communities";
import type { ChatProfile } from "@accountlink/core/platforms";
import { Profiles } from "@accountlink/core/platforms";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import { type Community, makeCommunities } from "../communities/community.ts";
import { listName } from "../look/list_name.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import { paths, withQuery } from "../paths.ts";
import { accountText, unlinkPath, userPath } from "./links_page.ts";

export interface UserList {
  readonly community: Community;
  readonly link: Pick<NamedLink, "link" | "game">;
}

/** Returns a function that finds the lists in which a chat user has a link. */
export const makeUserLists = Effect.gen(function* () {
  const links = yield* OwnedLinks;
  const profiles = yield* Profiles;
  const communities = yield* makeCommunities;

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, chatId: ChatId) {
    const found = yield* Effect.forEach(
      yield* communities.list(visitor),
      Effect.fnUntraced(function* (community) {
        const link = yield* links.find(community.scope, chatId);
        if (link === null) return [];
        const list: UserList = { community, link: { link, game: yield* profiles.game(link.gameId) } };
        return [list];
      }),
      { concurrency: 8 },
    );
    return found.flat();
  });
});

export const userListsHtml = (
  lists: ReadonlyArray<UserList>,
  chatId: ChatId,
  chat: ChatProfile | null,
): Html | null =>
  lists.length === 0
    ? null
    : html`
<section>
<h2>Linked in ${lists.length === 1 ? "one list" : `${lists.length} lists`}</h2>
<ul class="cards" role="list">${lists.map(({ community, link: { link, game } }) => {
        const { pid } = community.scope;
        return html`
<li>
<h3><a href="${userPath(pid, chatId)}">${listName(community)}</a></h3>
<p>${accountText(link.gameId, game)}</p>
<p><a class="bad" href="${unlinkPath(pid, chatId)}">Unlink<span class="unseen"> ${accountText(chatId, chat)} in ${listName(community)}</span></a></p>
</li>`;
      })}</ul>
${lists.length === 1 ? null : html`<p class="more"><a class="button bad" href="${withQuery(paths.unlinkAll, { chatId })}">Unlink in every list</a></p>`}
</section>`;

/** One chat user of a community: the current link and its history. */

import { type ChatId, type GameId, guildOf, OwnedKeys } from "@accountlink/core";
import { permits } from "@accountlink/core/accounts";
import type { AuditEntry } from "@accountlink/core/audit";
import { isGameId } from "@accountlink/core/ids";
import { importsBetween } from "@accountlink/core/imports";
import type { ConfiguredScope } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { isByOwner } from "@accountlink/core/links";
import { visibleName } from "@accountlink/core/name_text";
import { makeOwnedAudit, type NamedLink, OwnedBlocks, OwnedLinks } from "@accountlink/core/owners";
import { GuildGuard, Profiles } from "@accountlink/core/platforms";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { makeGamePage } from "../../game_page.ts";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { PageSettings } from "../../page_settings.ts";
import { makeEntryNames } from "../audit/entry_names.ts";
import { historyHtml } from "../audit/sentences.ts";
import { type Community, makeCommunities } from "../communities/community.ts";
import { panelTo, textField } from "../look/field.ts";
import { communityName, idOrName, listText, nameIn, platforms, userNameHtml } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { capitalised, say, tags } from "../look/say.ts";
import { ageAgoHtml, ageHtml, dayHtml, timeHtml } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { may, paths, userPath, withQuery } from "../paths.ts";
import { accountText, linkLabels, unlinkPath, verifiedText } from "./links_page.ts";
import { unblockForm } from "./unblock_form.ts";
import { makeUserRoles, userRolesSection } from "./user_roles.ts";

type LinkedUserView = Effect.Success<ReturnType<Effect.Success<typeof makeUserView>>>;

const more = (path: string, query: Readonly<Record<string, string>>, label: Html): Html =>
  may(path, html`<p class="more"><a href="${to(withQuery(path, query))}">${label}</a></p>`);

export const linkedUserPage = (view: LinkedUserView, game: string, refused: Refused | null): Page => {
  const { community, chatId, chat, link, history, imports, names, pages, now } = view;
  const { pid } = community.scope;
  return {
    title: visibleName(chat) ?? say("alts.user", { id: chatId }),
    within: view.lists.length + view.silent.length > 1 && communityName(community),
    section: "links",
    list: listText(community),
    refused,
    labels: linkLabels,
    content: html`
<p><a href="${to(withQuery(paths.links, { pid }))}">${say("user.all", { list: listText(community) })}</a></p>
<dl class="facts">
<div><dt>${linkLabels.chat}</dt><dd>${accountHtml(chatId, chat, now)}${joinedHtml(view)}${profileLink(pages.chat, platforms.chat)}</dd></div>
<div><dt>${linkLabels.game}</dt><dd>${
      link === null
        ? html`${say("user.none")}${undoForm(view)}`
        : html`${accountHtml(link.link.gameId, link.game, now)}${
            link.game?.isBanned === true &&
            html` <span class="badge bad">${say("user.banned", { platform: platforms.game })}</span>`
          }${profileLink(pages.game, platforms.game)}`
    }</dd></div>
${
  link !== null &&
  html`<div><dt>${say(isByOwner(link.link.proof) ? "links.last_verified" : "user.linked")}</dt><dd>${verifiedText(link.link)}</dd></div>`
}
</dl>
${userListsHtml(view)}
${view.roles && userRolesSection(community, chatId, chat, link !== null, view.roles)}
${section(say("user.history"))`
${historyHtml(history, names)}
${untold(link, history)}
${
  imports.length > 0 &&
  html`<details${imports.length <= fewImports && html` open`}>
<summary>${say("user.imports")}</summary>
${historyHtml(imports, names)}
</details>`
}
${more(paths.audit, { chatId }, say("user.history.all"))}
${more(paths.events, { pid, user: chatId }, say("user.events"))}
${view.isPremium && more(paths.alts, { pid, kind: "chat", id: chatId }, say("user.alts"))}`}
${
  !view.blocked.chat &&
  section(say(link === null ? "user.link_in" : "user.change_in", { list: listText(community) }))`
${panelTo(paths.link, { pid, chat: chatId, of: "user" })`
${textField({ name: "game", label: linkLabels.game, hint: idOrName("game"), value: game, required: true })}
<button class="button quiet">${say(link === null ? "user.link_button" : "user.instead")}</button>`}`
}
${blockSection(view)}`,
  };
};

const blockSection = ({ community, chatId, gameId, blocked, names }: LinkedUserView): Html => {
  const { pid } = community.scope;
  const game = blocked.game ? gameId : null;
  const which = !blocked.chat ? "game" : blocked.game ? "both" : "chat";
  const all = html`<a href="${to(withQuery(paths.blocks, { pid }))}">${say("user.blocked_here")}</a>`;
  return section(say("user.keep_out"), "block")`
${
  !blocked.chat && !blocked.game
    ? html`<p><a class="button bad" href="${to(withQuery(paths.block, { pid, chatId }))}">${say("blocks.button")}</a></p>
<p class="more">${all}</p>`
    : html`<p><span class="badge bad">${say("user.blocked")}</span> ${say(`user.blocked.${which}`, { list: listText(community) })} ${all}</p>
${game !== null && html`<p>${say("blocks.account", { name: nameIn(names.games, game), platform: platforms.game })}</p>`}
${unblockForm(pid, { chatId: blocked.chat ? chatId : null, gameId: game }, chatId)}`
}`;
};

/** An account with its user name and its age, as far as the platform tells. */
const accountHtml = (
  id: string,
  profile: Pick<NonNullable<NamedLink["chat"]>, "displayName" | "username" | "created"> | null,
  now: Millis,
): Html => {
  const since = Date.parse(profile?.created ?? "");
  const username = profile?.username ?? null;
  return html`${accountText(id, profile)}${username !== null && html`<small>${userNameHtml(username)}</small>`}${
    !Number.isNaN(since) &&
    html`<small>${say("user.since", { day: dayHtml(since), age: ageHtml(since, now) })}</small>`
  }`;
};

/** Says since when the user has been a member; null if that is unknown, or the list is not of one community. */
const joinedHtml = ({ chat, now }: LinkedUserView): Html | null => {
  const joined = Date.parse(chat?.guild?.joined ?? "");
  return Number.isNaN(joined)
    ? null
    : html`<small>${say("user.joined", { day: dayHtml(joined), ago: ageAgoHtml(joined, now) })}</small>`;
};

const profileLink = (url: string | null, platform: Html): Html | false =>
  url !== null && html`<br><a href="${to(url)}" rel="noreferrer">${say("user.profile", { platform })}</a>`;

const untold = (link: NamedLink | null, history: ReadonlyArray<AuditEntry>): Html | null =>
  link === null || history.some(({ details }) => details["gameId"] === link.link.gameId)
    ? null
    : html`<p class="hint">${say("user.untold", { account: accountText(link.link.gameId, link.game), time: timeHtml(link.link.linkedAt) })}</p>`;

/** The game account of the link that was removed last, which a block may have removed. */
const lastRemoved = (history: ReadonlyArray<AuditEntry>): GameId | null => {
  const gameId = history.find(({ action }) => action === "link.removed")?.details["removedGameId"];
  return isGameId(gameId) ? gameId : null;
};

const linkActions: ReadonlySet<string> = new Set(["link.set", "link.moved", "link.removed"]);

/**
 * The button that puts back the link that the team removed last, within a day; null without one, and while a block refuses
 * it.
 */
const undoForm = ({ community, chatId, history, now, blocked }: LinkedUserView): Html | null => {
  const last = history.find(({ action }) => linkActions.has(action));
  const isRemoval = last?.action === "link.removed" && last.actor.type === "account";
  return !isRemoval || last.at <= now - dayMs || blocked.chat || blocked.game
    ? null
    : formTo(paths.restoreLink, {
        pid: community.scope.pid,
        chatId,
        game: String(last.details["removedGameId"]),
      })`
<p><button class="button quiet small">${say("user.undo")}</button></p>`;
};

export interface UserList {
  readonly community: Community;
  readonly link: Pick<NamedLink, "link" | "game">;
}

/** Finds the lists in which a user is linked, without a name from a platform. */
export const makeListsOfUser = Effect.gen(function* () {
  const links = yield* OwnedLinks;
  const communities = yield* makeCommunities;

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, chatId: ChatId) {
    const linkIn = ({ scope }: ConfiguredScope) => links.find(scope, chatId);
    const { open, ...unknown } = yield* communities.listOpen(visitor, (list) =>
      Effect.map(linkIn(list), (link) => link !== null),
    );
    const found = yield* forEachLimited(open, 8, (community) =>
      Effect.map(linkIn(community), (link) => (link === null ? [] : [{ community, link }])),
    );
    return { lists: found.flat(), ...unknown };
  });
});

export const makeUserLists = Effect.gen(function* () {
  const profiles = yield* Profiles;
  const listsOf = yield* makeListsOfUser;

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, chatId: ChatId) {
    const { lists, ...unknown } = yield* listsOf(visitor, chatId);
    const named = yield* forEachLimited(lists, 8, ({ community, link }) =>
      Effect.map(profiles.game(link.gameId, []), (game): UserList => ({ community, link: { link, game } })),
    );
    return { lists: named, ...unknown };
  });
});

const userListsHtml = ({ lists, silent, chatId, chat }: LinkedUserView): Html | false =>
  lists.length + silent.length > 0 &&
  section(say("user.lists", { count: lists.length + silent.length }))`
<ul class="cards" role="list">${lists.map(({ community, link: { link, game } }) => {
    const { pid } = community.scope;
    return html`
<li>
<h3><a href="${to(userPath(pid, chatId))}">${communityName(community)}</a></h3>
<p>${accountText(link.gameId, game)}</p>
<p><a class="bad" href="${to(unlinkPath(pid, chatId))}">${say("user.unlink", { unseen: tags.unseen, name: accountText(chatId, chat), list: listText(community) })}</a></p>
</li>`;
  })}${silent.map(
    (community) => html`
<li>
<h3>${communityName(community)}</h3>
<p>${capitalised(say("links.no_answer", { platform: platforms.chat }))}</p>
</li>`,
  )}</ul>
${
  lists.length > 1 &&
  html`<p class="more"><a class="button bad" href="${to(withQuery(paths.unlinkAll, { chatId }))}">${say("unlink.all")}</a></p>`
}`;

const shownChanges = 50;

/** More imports are folded: an old link has many, because each later import may have changed it. */
const fewImports = 5;

export const makeUserView = Effect.gen(function* () {
  const listsOf = yield* makeUserLists;
  const profiles = yield* Profiles;
  const keys = yield* OwnedKeys;
  const blocks = yield* OwnedBlocks;
  const entriesOf = yield* makeOwnedAudit;
  const namesOf = yield* makeEntryNames;
  const guard = yield* GuildGuard;
  const rolesOf = yield* makeUserRoles;
  const { chatPage = null } = yield* PageSettings;
  const gamePage = yield* makeGamePage;

  /** Reads a profile, with the membership if somebody of the account may list the members. */
  const chatOf = Effect.fnUntraced(function* ({ scope }: Community, chatId: ChatId) {
    const guildId = guildOf(scope);
    const mayLearn = yield* guard.requireAccount(scope, guildId).pipe(
      Effect.as(true),
      Effect.catchTag(["Forbidden", "PlatformUnavailable"], () => Effect.succeed(false)),
    );
    return yield* profiles.chat(chatId, mayLearn ? guildId : null);
  });

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, community: Community, chatId: ChatId) {
    const { pid } = community.scope;
    const filter = { action: null, keyId: null, chatId, pid };
    const imported = {
      ...filter,
      chatId: null,
      readable: ["links.imported", "links.import_undone"],
    } as const;
    const [{ lists, silent }, changes, imports, listed, chat, roles] = yield* Effect.all(
      [
        listsOf(visitor, chatId),
        entriesOf(visitor, null, shownChanges, filter),
        // The history of a link names the imports to every role.
        entriesOf({ owner: visitor.owner, role: "admin" }, null, shownChanges, imported),
        keys.list(visitor.owner),
        chatOf(community, chatId),
        permits(visitor, "admin") ? rolesOf(visitor, community, chatId) : Effect.succeed(null),
      ],
      { concurrency: "unbounded" },
    );
    const own = lists.find((list) => list.community.scope.pid === pid)?.link;
    const link: NamedLink | null = own === undefined ? null : { ...own, chat };
    const present = { chatId, gameId: link?.link.gameId ?? null };
    const between = importsBetween(present, changes.entries, imports.entries, changes.next === null);
    const names = yield* namesOf(visitor, listed, [...changes.entries, ...between]);
    const gameId = link?.link.gameId ?? lastRemoved(changes.entries);
    return {
      community,
      chatId,
      /** The game account of the link, or of the one that was removed last. */
      gameId,
      chat,
      /** What the rules would change; null if that is unknown, and for moderators. */
      roles,
      blocked: yield* blocks.of(community.scope, chatId, gameId),
      link,
      lists,
      /** The lists in which the user is linked, and of which the platform does not say whether the team may read them. */
      silent,
      history: changes.entries,
      /** The imports and undos that may have changed the link. */
      imports: between,
      names,
      /** Only Premium accounts search for alts. */
      isPremium: visitor.owner.account.tier === "premium",
      now: visitor.context.clock.currentTimeMillisUnsafe(),
      /** The pages of both accounts on the platforms; null where there are none. */
      pages: {
        chat: chatPage?.(chatId) ?? null,
        game: link === null ? null : yield* gamePage(link.link.gameId),
      },
    };
  });
});

/** What stands around a role plan: a choice of communities, refusals, rules of others, and linking without rules. */
import type { GuildId, Pid } from "@accountlink/core";
import type { Forbidden } from "@accountlink/core/errors";
import type { OwnGuild } from "@accountlink/core/platforms";
import { statusOf } from "@accountlink/http-api";
import { formTo, type Html, html, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { communityName, listText } from "../look/names.ts";
import { say, tags } from "../look/say.ts";
import type { Page, Visitor } from "../page.ts";
import { communityPath, paths, rolesPath, withQuery } from "../paths.ts";

/** Asks for a community, because a shared list of links has separate rules for each community. */
export const guildChoicePage = (
  { scope }: Community,
  guilds: ReadonlyArray<OwnGuild>,
  { platforms: { chat } }: Pick<Visitor, "platforms">,
  pathOf: (pid: Pid) => string = rolesPath,
  title: Html = say("roles.title"),
): Page => {
  const usable = guilds.filter(({ bot, manager }) => bot && manager);
  return {
    isWorded: true,
    title,
    section: "communities",
    content: html`
<p>${say("roles.each")}</p>
${
  usable.length === 0
    ? html`<p>${say("roles.no_guild")} ${managersOnly(chat)}</p>`
    : html`<ul class="cards" role="list">${usable.map(
        ({ guildId, name }) =>
          html`<li><h2><a href="${to(withQuery(pathOf(scope.pid), { guildId }))}">${name ?? guildId}</a></h2></li>`,
      )}</ul>`
}`,
  };
};

const managersOnly = (chat: string): Html => say("roles.managers_only", { platform: chat });

export const refusedGuildPage = (
  community: Community,
  error: Forbidden,
  { platforms: { chat } }: Pick<Visitor, "platforms">,
  title: Html = say("roles.title"),
): Page => ({
  isWorded: true,
  status: statusOf(error),
  title,
  section: "communities",
  content: html`
<p>${error.reason === "not_guild_manager" ? managersOnly(chat) : say("roles.no_bot")}</p>
<p><a href="${to(communityPath(community.scope.pid))}">${say("channels.back", { community: communityName(community) })}</a></p>`,
});

/** Another list of the account, or another account; the account's name is null unless the visitor is a member. */
export type Rival = { readonly list: Community } | { readonly account: string | Html | null };

interface GuildView {
  readonly guildId: GuildId;
  /** Where other rules for this guild are on; null if none are. */
  readonly rival: Rival | null;
}

export const rivalNotice = ({ rival, guildId }: GuildView): Html | null =>
  rival && html`<div class="notice warn"><p>${rivalText(rival, guildId)}</p></div>`;

const linkTo = (address: string) => (content: Html) => html`<a href="${to(address)}">${content}</a>`;

const rivalText = (rival: Rival, guildId: GuildId): Html => {
  if ("list" in rival)
    return say("roles.rival.list", {
      a: linkTo(withQuery(rolesPath(rival.list.scope.pid), { guildId })),
      list: listText(rival.list),
    });
  return rival.account === null
    ? say("roles.rival.other")
    : say("roles.rival.account", { a: linkTo(paths.chooseAccount), account: rival.account });
};

/** Lets an owner turn linking on before choosing any role. @param action the address of the form */
export const linkingSection = ({ rival, guildId }: GuildView, action: string): Html | null =>
  rival && "list" in rival
    ? null
    : html`
<section>
<h2>${say("roles.linking")}</h2>
${formTo(action, html` class="panel"`)}
<input type="hidden" name="guildId" value="${guildId}">
<p>${say("roles.linking.text", { code: tags.code })}</p>
<p class="row"><button class="button quiet" name="act" value="linking">${say("roles.linking.button")}</button></p>
</form>
</section>`;

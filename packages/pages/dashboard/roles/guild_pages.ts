/** Pages shown instead of a role plan: a choice of communities, or the reason why the plan cannot be shown. */
import type { Forbidden } from "@accountlink/core/errors";
import type { OwnGuild } from "@accountlink/core/platforms";
import { statusOf } from "@accountlink/http-api";
import { html } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { communityName } from "../look/names.ts";
import type { Page, Visitor } from "../page.ts";
import { communityPath, rolesPath, withQuery } from "../paths.ts";

/** Asks for a community, because a shared list of links has separate rules for each community. */
export const guildChoicePage = (
  { scope }: Community,
  guilds: ReadonlyArray<OwnGuild>,
  { platforms: { chat } }: Pick<Visitor, "platforms">,
): Page => {
  const usable = guilds.filter(({ bot, manager }) => bot && manager);
  return {
    title: "Roles and names",
    section: "communities",
    content: html`
<p>Each community has rules of its own.</p>
${
  usable.length === 0
    ? html`<p>You manage no community that the bot is in. ${managersOnly(chat)}</p>`
    : html`<ul class="cards" role="list">${usable.map(
        ({ guildId, name }) =>
          html`<li><h2><a href="${withQuery(rolesPath(scope.pid), { guildId })}">${name ?? guildId}</a></h2></li>`,
      )}</ul>`
}`,
  };
};

const managersOnly = (chat: string): string =>
  `Only people who manage a community on ${chat} may see and change its rules, whatever their role here.`;

export const refusedGuildPage = (
  community: Community,
  error: Forbidden,
  { platforms: { chat } }: Pick<Visitor, "platforms">,
): Page => ({
  status: statusOf(error),
  title: "Roles and names",
  section: "communities",
  content: html`
<p>${error.reason === "not_guild_manager" ? managersOnly(chat) : "The bot is not in this community. Add it first."}</p>
<p><a href="${communityPath(community.scope.pid)}">Back to ${communityName(community)}</a></p>`,
});

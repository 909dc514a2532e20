/** What stands around a role plan: a choice of communities, refusals, rules of others, and linking without rules. */
import type { GuildId, Pid } from "@accountlink/core";
import type { Forbidden } from "@accountlink/core/errors";
import type { OwnGuild } from "@accountlink/core/platforms";
import { statusOf } from "@accountlink/http-api";
import { formTo, type Html, html, to } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { communityName, listText } from "../look/names.ts";
import type { Page, Visitor } from "../page.ts";
import { communityPath, paths, rolesPath, withQuery } from "../paths.ts";

/** Asks for a community, because a shared list of links has separate rules for each community. */
export const guildChoicePage = (
  { scope }: Community,
  guilds: ReadonlyArray<OwnGuild>,
  { platforms: { chat } }: Pick<Visitor, "platforms">,
  pathOf: (pid: Pid) => string = rolesPath,
  title: string | Html = "Roles and names",
): Page => {
  const usable = guilds.filter(({ bot, manager }) => bot && manager);
  return {
    title,
    section: "communities",
    content: html`
<p>Each community has rules and channels of its own.</p>
${
  usable.length === 0
    ? html`<p>You manage no community that the bot is in. ${managersOnly(chat)}</p>`
    : html`<ul class="cards" role="list">${usable.map(
        ({ guildId, name }) =>
          html`<li><h2><a href="${to(withQuery(pathOf(scope.pid), { guildId }))}">${name ?? guildId}</a></h2></li>`,
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
  title: string | Html = "Roles and names",
): Page => ({
  status: statusOf(error),
  title,
  section: "communities",
  content: html`
<p>${error.reason === "not_guild_manager" ? managersOnly(chat) : "The bot is not in this community. Add it first."}</p>
<p><a href="${to(communityPath(community.scope.pid))}">Back to ${communityName(community)}</a></p>`,
});

/** Another list of the account, or another account; the account's name is null unless the visitor is a member. */
export type Rival = { readonly list: Community } | { readonly account: string | null };

interface GuildView {
  readonly guildId: GuildId;
  /** Where other rules for this guild are on; null if none are. */
  readonly rival: Rival | null;
}

export const rivalNotice = ({ rival, guildId }: GuildView): Html | null =>
  rival &&
  html`<div class="notice warn"><p>The rules of ${rivalName(rival, guildId)} are on for this community. Only the rules
    of one list can be on: pause those to turn on the rules below.</p></div>`;

const rivalName = (rival: Rival, guildId: GuildId): Html => {
  if ("list" in rival)
    return html`<a href="${to(withQuery(rolesPath(rival.list.scope.pid), { guildId }))}">${listText(rival.list)}</a>`;
  return rival.account === null
    ? html`another account`
    : html`your account <a href="${to(paths.chooseAccount)}">${rival.account}</a>`;
};

/** Lets an owner turn linking on before choosing any role. @param action the address of the form */
export const linkingSection = ({ rival, guildId }: GuildView, action: string): Html | null =>
  rival && "list" in rival
    ? null
    : html`
<section>
<h2>Only linking</h2>
${formTo(action, html` class="panel"`)}
<input type="hidden" name="guildId" value="${guildId}">
<p>Without rules, members link their accounts with <code>/verify</code> or the panel, and nobody gets or loses a role.
You can add rules later.</p>
<p class="row"><button class="button quiet" name="act" value="linking">Turn on linking without roles</button></p>
</form>
</section>`;

import { type GuildId, guildOf } from "@accountlink/core";
import { type Html, html } from "../../html.ts";
import { linksText } from "../look/link_count.ts";
import { communityName, sharedListHint } from "../look/list_name.ts";
import { counted } from "../look/time.ts";
import type { Page } from "../page.ts";
import { communityPath, paths, rolesPath, withQuery } from "../paths.ts";
import type { Community } from "./community.ts";
import { type BotInvite, type FirstSteps, firstSteps } from "./first_steps.ts";

export interface CommunitiesView extends Omit<FirstSteps, "community" | "botInvite"> {
  readonly botInvite: (guildId: GuildId | null) => BotInvite | null;
  readonly communities: ReadonlyArray<Community>;
}

export const communitiesPage = (view: CommunitiesView): Page => ({
  title: "Communities",
  section: "communities",
  content:
    view.communities.length === 0
      ? html`
<p>You have no community here yet. These steps lead to your first verified user.</p>
${firstSteps({ ...view, botInvite: view.botInvite(null), community: null })}`
      : html`
<ul class="cards" role="list">${view.communities.map(card)}</ul>
${others(view)}`,
});

const card = (community: Community): Html => {
  const { scope, links, keys, settings } = community;
  const name = communityName(community);
  return html`
<li>
<h2><a href="${communityPath(scope.pid)}">${name}</a></h2>
<p>${settings.displayName === null ? null : html`Users read <strong>${settings.displayName}</strong>. `}${
    guildOf(scope) === null ? html`${sharedListHint}, for bots and games that work in several.` : null
  }</p>
<p class="figure"><strong>${linksText(links)}</strong>${guildOf(scope) === null ? null : " in its own list"} · ${counted(keys, "key")}</p>
<p><a href="${withQuery(paths.links, { pid: scope.pid })}">Links<span class="unseen"> of ${name}</span></a> · <a href="${communityPath(scope.pid)}">Verify link and settings<span class="unseen"> of ${name}</span></a> · <a href="${rolesPath(scope.pid)}">Roles<span class="unseen"> of ${name}</span></a></p>
</li>`;
};

const others = ({ guilds, communities, botInvite }: CommunitiesView): Html | null => {
  const known = new Set(communities.map(({ scope }) => guildOf(scope)));
  const rest = (guilds ?? []).filter(({ guildId, manager }) => manager && !known.has(guildId));
  if (rest.length === 0) return null;
  return html`
<section>
<h2>Your other communities</h2>
<ul class="cards" role="list">${rest.map(
    ({ guildId, name, bot }) => html`
<li><h3>${name ?? guildId}</h3>
${
  bot
    ? html`<p><a href="${withQuery(paths.newKey, { guildId })}">Create a key<span class="unseen"> for ${name ?? guildId}</span></a></p>`
    : html`<p>The bot is not in it. ${addLink(botInvite(guildId), name ?? guildId)}</p>`
}</li>`,
  )}</ul>
</section>`;
};

const addLink = (invite: BotInvite | null, name: string): Html | null =>
  invite &&
  html`<a href="${invite.plain}" rel="noreferrer">Add the bot<span class="unseen"> to ${name}</span></a>`;

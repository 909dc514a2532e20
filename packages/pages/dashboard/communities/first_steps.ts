/** The steps of a new owner from the sign-in to the first verified user. The owner can take each step on this page. */
import { ChatPlatform, type GuildId, guildOf } from "@accountlink/core";
import type { OwnGuild } from "@accountlink/core/platforms";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import { copyable } from "../look/copyable.ts";
import { csrfField } from "../look/field.ts";
import { communityPath, paths } from "../paths.ts";
import { type Community, verifyUrl } from "./community.ts";

/** URLs of pages on the chat platform where an owner adds the bot to a community. */
export interface BotInvite {
  /** The URL of the page that adds the bot without rights. The bot needs none to check memberships. */
  readonly plain: string;
  /** The URL of the page that adds the bot with the rights to change roles and nicknames. */
  readonly forRoles: string;
}

/**
 * Makes a function from a guild ID to the pages that add the bot to this guild, or to any guild if the ID is null. The
 * function returns null if the platform has no such pages.
 */
export const makeBotInvite = Effect.map(
  ChatPlatform,
  ({ botInvite }) =>
    (guildId: GuildId | null): BotInvite | null =>
      botInvite === undefined
        ? null
        : { plain: botInvite(guildId, "none"), forRoles: botInvite(guildId, "roles") },
);

export interface FirstSteps {
  /** The owner's guilds; null if the chat platform did not report them. */
  readonly guilds: ReadonlyArray<OwnGuild> | null;
  readonly botInvite: BotInvite | null;
  /** The community that these steps set up; null before there is one. */
  readonly community: Community | null;
  readonly publicUrl: string;
  readonly csrf: string;
}

export const firstSteps = (view: FirstSteps): Html => {
  const { community } = view;
  const guildId = community && guildOf(community.scope);
  const hasBot = withBot(view).some((guild) => guildId === null || guild.guildId === guildId);
  return html`
<ol class="steps" role="list">
${step("Add the bot to your community", hasBot, botStep(view))}
${community === null || community.keys === 0 ? html`${step("Create a key", false, keyStep(view))}${laterSteps}` : stepsWithKey(community, view.publicUrl)}
</ol>`;
};

const laterSteps = html`
<li><strong>Name your community</strong></li>
<li><strong>Share the link</strong></li>
<li><strong>See the first user verified</strong></li>`;

const stepsWithKey = ({ scope, guildName, settings, links }: Community, publicUrl: string): Html => {
  const url = verifyUrl(publicUrl, scope);
  const name = settings.displayName ?? guildName;
  const naming = `${communityPath(scope.pid)}#says`;
  return html`
${step("Create a key", true, null)}
${step("Name your community", name !== null, name === null ? html`<p><a href="${naming}">Enter the name that users see</a></p>` : html`<p>Users read <strong>${name}</strong>. <a href="${naming}">Change it</a></p>`)}
${step("Share the link", links.count > 0, html`${copyable("step-link", "link", url)}<p>Post it in a channel that everybody can see.</p>`)}
${step("See the first user verified", links.count > 0, html`<p><a href="${url}">Verify yourself first</a>, then look at the <a href="${paths.links}">links</a>.</p>`)}`;
};

const step = (title: string, isDone: boolean, content: Html | null): Html => html`
<li${isDone ? html` class="done"` : null}><strong>${title}${isDone ? html`<span class="unseen">: done</span>` : null}</strong>
${content}</li>`;

/** The guilds that the owner manages and that have the bot. */
const withBot = ({ guilds }: Pick<FirstSteps, "guilds">) =>
  (guilds ?? []).filter(({ bot, manager }) => bot && manager);

/** Says in which communities the bot is, and links to the pages that add it to others. */
export const botStep = ({ guilds, botInvite }: Pick<FirstSteps, "guilds" | "botInvite">): Html => {
  const present = withBot({ guilds });
  const names = present.map(({ guildId, name }) => name ?? guildId).join(", ");
  return html`
<p>${present.length === 0 ? "The bot is in none of the communities that you manage. It has to be in one to check who is a member." : `The bot is in ${names}.`}</p>
${botInvite === null ? null : present.length === 0 ? addBot(botInvite) : addBotElsewhere(botInvite)}`;
};

/** The button that adds the bot, and the rights that the bot asks for. */
export const addBot = ({ plain, forRoles }: BotInvite): Html => html`
<p><a class="button" href="${plain}" rel="noreferrer">Add the bot</a></p>
<p>It asks for no rights. To give roles and nicknames it needs two: <a href="${forRoles}" rel="noreferrer">add it with the rights to manage roles and nicknames</a>.</p>`;

const addBotElsewhere = ({ plain, forRoles }: BotInvite): Html => html`
<p><a href="${plain}" rel="noreferrer">Add it to another community</a> · <a href="${forRoles}" rel="noreferrer">Give it the rights to manage roles and nicknames</a></p>`;

/** Offers to create a key: one button for each community that the owner manages and the bot is in. */
const keyStep = (view: FirstSteps): Html => {
  const possible = withBot(view);
  return html`
${possible.map(
  ({ guildId, name }) => html`
<form method="post" action="${paths.keys}">${csrfField(view.csrf)}
<input type="hidden" name="name" value="First key"><input type="hidden" name="scope" value="guild">
<input type="hidden" name="guildId" value="${guildId}"><input type="hidden" name="access" value="full">
<button class="button">Create a key for ${name ?? guildId}</button></form>`,
)}
<p><a href="${paths.newKey}">${possible.length === 0 ? "Create a key" : "Create a key with other settings"}</a></p>`;
};

/** The steps of a new owner from the sign-in to the first verified user. The owner can take each step on this page. */
import { ChatPlatform, type GuildId, guildOf } from "@accountlink/core";
import type { OwnGuild } from "@accountlink/core/platforms";
import { RolePlanStore } from "@accountlink/core/roles";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import { copyable } from "../look/copyable.ts";
import { hiddenFields } from "../look/field.ts";
import { makeGuildChoice, type OwnerVisitor } from "../owner_pages.ts";
import { communityPath, paths, rolesPath } from "../paths.ts";
import { type Community, verifyUrl } from "./community.ts";

/** URLs of pages on the chat platform where an owner adds the bot to a community. */
export interface BotInvite {
  /** The URL of the page that adds the bot without rights. The bot needs none to check memberships. */
  readonly plain: string;
  /** The URL of the page that adds the bot with the rights to change roles and nicknames. */
  readonly forRoles: string;
}

/** Returns a function that finds the pages which add the bot to a guild, or to any; null if there are none. */
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
  /** Whether the community has a plan of roles that is on. */
  readonly rolesOn: boolean;
  readonly publicUrl: string;
}

/** Returns a function that collects the data of the steps. */
export const makeFirstSteps = Effect.gen(function* () {
  const guildsOf = yield* makeGuildChoice;
  const inviteTo = yield* makeBotInvite;
  const plans = yield* RolePlanStore;
  const { publicUrl } = yield* HttpSettings;

  return Effect.fnUntraced(function* <C extends Community | null>(visitor: OwnerVisitor, community: C) {
    const listed = community === null ? [] : yield* plans.list(community.scope.pid);
    return {
      community,
      guilds: yield* guildsOf(visitor),
      botInvite: inviteTo(community && guildOf(community.scope)),
      rolesOn: listed.some(({ state }) => state === "on"),
      publicUrl,
    };
  });
});

export const firstSteps = (view: FirstSteps): Html => {
  const { community } = view;
  const guildId = community && guildOf(community.scope);
  const hasBot = withBot(view).some((guild) => guildId === null || guild.guildId === guildId);
  return html`
<ol class="steps" role="list">
${step("Add the bot to your community", hasBot, botStep(view))}
${step("Choose roles", view.rolesOn, community === null ? keyStep(view) : rolesStep(community))}
${step("Post the panel", false, community === null || !isReachable(community, view.rolesOn) ? null : panelStep(community, view.publicUrl))}
</ol>`;
};

/** Whether members can link by the verify link: a key is active, or roles are on. */
export const isReachable = ({ hasActiveKey }: Community, rolesOn: boolean): boolean =>
  rolesOn || hasActiveKey;

const rolesStep = ({ scope: { pid } }: Community): Html =>
  html`<p>Members who linked get them at once, and the bot answers commands. <a href="${rolesPath(pid)}">Choose roles</a></p>`;

const panelStep = ({ scope }: Community, publicUrl: string): Html => {
  const url = verifyUrl(publicUrl, scope);
  return html`
<p>${guildOf(scope) === null ? "Post the link where everybody can see it." : html`Type <code>/panel</code> in a channel that everybody can see. <a href="${communityPath(scope.pid)}#panel">See the panel</a>. Or post the link by hand:`}</p>
${copyable("step-link", "link", url)}
<p><a href="${url}">Verify yourself first</a></p>`;
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

/**
 * Offers to create a key, which opens the list of a community: one button for each community that the owner manages and
 * the bot is in.
 */
const keyStep = (view: FirstSteps): Html => {
  const possible = withBot(view);
  return html`
<p>The first key opens the list of a community.</p>
${possible.map(
  ({ guildId, name }) => html`
<form method="post" action="${paths.keys}">
${hiddenFields({ name: "First key", scope: "guild", guildId, access: "full" })}
<button class="button">Create a key for ${name ?? guildId}</button></form>`,
)}
<p><a href="${paths.newKey}">${possible.length === 0 ? "Create a key" : "Create a key with other settings"}</a></p>`;
};

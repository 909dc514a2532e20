/** The steps of a new owner from the sign-in to the first verified user. The owner can take each step on this page. */
import { ChatPlatform, guildOf } from "@accountlink/core";
import {
  CommunityStore,
  type Community as Guild,
  isLinkingOn,
  makeHasOpen,
} from "@accountlink/core/communities";
import type { BotRights, OwnGuild } from "@accountlink/core/platforms";
import { givesSomething, type RolePlan, RolePlanStore } from "@accountlink/core/roles";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect, Option } from "effect";
import { formTo, type Html, html, to } from "../../html.ts";
import { copyable } from "../look/copyable.ts";
import { linkTo, say, tags } from "../look/say.ts";
import { makeGuildChoice, type OwnerVisitor } from "../owner_pages.ts";
import { channelsPath, may, paths, rolesPath } from "../paths.ts";
import { type Community, type CountedCommunity, verifyUrl } from "./community.ts";

/** A bot that is added gets every right at once, so that nobody has to come back for roles, the panel or the log. */
export const everyRight: BotRights = "roles_and_posts";

/** The bot needs no rights to check memberships, two to give roles and nicknames, and two to write the log. */
export const rightsFor = (
  plans: ReadonlyArray<Pick<RolePlan, "rules" | "nickname">>,
  communities: ReadonlyArray<Pick<Guild, "logChannelId">>,
): BotRights => {
  const hasRoles = plans.some(givesSomething);
  const hasLog = communities.some(({ logChannelId }) => logChannelId !== null);
  if (hasRoles) return hasLog ? "roles_and_posts" : "roles";
  return hasLog ? "posts" : "none";
};

export type FirstSteps = Effect.Success<ReturnType<Effect.Success<typeof makeFirstSteps>>>;

/** Returns a function that collects the data of the steps that set up a community; null before there is one. */
export const makeFirstSteps = Effect.gen(function* () {
  const guildsOf = yield* makeGuildChoice;
  const { botInvite } = yield* ChatPlatform;
  const plans = yield* RolePlanStore;
  const communities = yield* CommunityStore;
  const hasOpen = yield* makeHasOpen;
  const { publicUrl } = yield* HttpSettings;

  return Effect.fnUntraced(function* <C extends CountedCommunity | null>(
    visitor: OwnerVisitor,
    community: C,
  ) {
    const pid = community?.scope.pid;
    const guilds = pid === undefined ? [] : yield* communities.list(pid);
    const guildId = community && guildOf(community.scope);
    const home = guildId === null ? Option.none() : yield* communities.findHome(guildId);
    const rights = rightsFor(pid === undefined ? [] : yield* plans.list(pid), guilds);
    return {
      community,
      /** The owner's guilds; null if the chat platform did not report them. */
      guilds: yield* guildsOf(visitor),
      /** The page that adds the bot; null if the chat platform has no such page. */
      botInvite: botInvite?.(guildId, everyRight) ?? null,
      /** The page that gives the bot, where it is already, the rights that the community's plans need. */
      rightsInvite: botInvite?.(guildId, rights) ?? null,
      rights,
      /** Whether members may link in a guild of the community, also while its rules are paused. */
      isLinking: yield* Effect.catchTag(hasOpen(guilds), "PlatformUnavailable", () => Effect.succeed(false)),
      /** Whether the bot answers in the guild for another list, whose rules are on. */
      isTaken: Option.exists(home, (other) => other.scope.pid !== pid && isLinkingOn(other)),
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
${step(say("steps.bot"), hasBot, hasBot || guildId === null ? botStep(view) : addBot(view))}
${step(say("steps.linking"), view.isLinking, community === null ? openStep(view) : rolesStep(community, view.isTaken))}
${step(say("steps.panel"), false, community === null || !isReachable(community, view.isLinking) ? null : panelStep(community, view.publicUrl))}
</ol>`;
};

/** Whether members can link by the verify link: a key is active, or linking is on. */
export const isReachable = ({ hasActiveKey }: CountedCommunity, isLinking: boolean): boolean =>
  isLinking || hasActiveKey;

const rolesStep = ({ scope: { pid } }: Community, isTaken: boolean): Html =>
  html`${isTaken && html`<p>${say("channels.another")}</p>`}
<p>${say("steps.linking.text")}
    <a href="${to(rolesPath(pid))}">${say("steps.linking.choose")}</a></p>`;

const panelStep = ({ scope }: Community, publicUrl: string): Html => {
  const url = verifyUrl(publicUrl, scope);
  return html`
<p>${
    guildOf(scope) === null
      ? say("steps.panel.link")
      : say("steps.panel.text", {
          a: linkTo(`${channelsPath(scope.pid)}#panel`),
          code: tags.code,
        })
  }</p>
${copyable("step-link", say("channels.copy", { unseen: tags.unseen }), url)}
<p><a href="${to(url)}">${say("steps.verify")}</a></p>`;
};

const step = (title: Html, isDone: boolean, content: Html | false | null): Html => html`
<li${isDone ? html` class="done"` : null}><strong>${title}${isDone ? say("steps.done", { unseen: tags.unseen }) : null}</strong>
${content}</li>`;

/** The guilds that the owner manages and that have the bot. */
export const withBot = ({ guilds }: Pick<FirstSteps, "guilds">) =>
  (guilds ?? []).filter(({ bot, manager }) => bot && manager);

type Invite = Pick<FirstSteps, "botInvite">;

/** Says in which communities the bot is, and links to the page that adds it to others. */
export const botStep = ({ guilds, ...invite }: Pick<FirstSteps, "guilds"> & Invite): Html => {
  const present = withBot({ guilds });
  const names = present.map(({ guildId, name }) => name ?? guildId).join(", ");
  return html`
<p>${present.length === 0 ? say("steps.bot.none") : say("steps.bot.in", { communities: names })}</p>
${present.length === 0 ? addBot(invite) : addBotElsewhere(invite)}`;
};

/** The button that adds the bot, and the rights that the bot asks for. */
export const addBot = ({ botInvite }: Invite): Html | false =>
  botInvite !== null &&
  html`
<p><a class="button" href="${to(botInvite)}" rel="noreferrer">${say("steps.bot.add")}</a></p>
<p>${say("steps.asks")}</p>`;

/** The link that adds the bot to a community, whose name only screen readers hear. */
export const addBotLink = (botInvite: string | null, name: string | Html): Html | false =>
  botInvite !== null &&
  html`<a href="${to(botInvite)}" rel="noreferrer">${say("steps.bot.add_to", { unseen: tags.unseen, community: name })}</a>`;

const addBotElsewhere = ({ botInvite }: Invite): Html | false =>
  botInvite !== null &&
  html`<p><a href="${to(botInvite)}" rel="noreferrer">${say("steps.bot.elsewhere")}</a></p>`;

/** The link that gives the bot, where it is already, the rights that the rules need; null if they need none. */
export const rightsLink = ({
  rightsInvite,
  rights,
}: Pick<FirstSteps, "rightsInvite" | "rights">): Html | null =>
  rightsInvite === null || rights === "none"
    ? null
    : html`<p><a href="${to(rightsInvite)}" rel="noreferrer">${say(`steps.give.${rights}`)}</a></p>`;

/** Offers to open the list of a community: one button for each that the owner manages and the bot is in. */
const openStep = (view: FirstSteps): Html => {
  const possible = withBot(view);
  return html`
<p>${say(possible.length === 0 ? "steps.open.none" : "steps.open")}</p>
${possible.map(openForm)}
${may(paths.newKey, html`<p>${say("steps.key", { a: linkTo(paths.newKey) })}</p>`)}`;
};

/** Opens the list of a community without a key, and leads to its roles. */
export const openForm = ({ guildId, name }: OwnGuild): Html => formTo(paths.communities, { guildId })`
<button class="button">${say("steps.set_up", { community: name ?? guildId })}</button>`;

/** The page of one community: its verify address, the texts for its users, and the bot. */
import { ChatPlatform, GamePlatform, type GuildId, guildOf } from "@accountlink/core";
import { makeAskingName } from "@accountlink/core/communities";
import { noSettings, type ScopeSettings, scopeSettings } from "@accountlink/core/keys";
import { type CommunityState, makeCommunityState, OwnedScopes } from "@accountlink/core/owners";
import { featuresOf } from "@accountlink/core/platforms";
import { Effect, Option, Record, Struct } from "effect";
import { formTo, type Html, html, type Problem, section, to } from "../../html.ts";
import { marksOf, type SentForm } from "../form_values.ts";
import { copyable, qrCode } from "../look/copyable.ts";
import { checkField, fieldsOf, panelTo, textField } from "../look/field.ts";
import { communityName, linksText, listText, platforms } from "../look/names.ts";
import { refusedFor } from "../look/refused.ts";
import { linkTo, plain, say, tags } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import type { OwnerVisitor } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import {
  channelsPath,
  communityPath,
  deleteDataPath,
  may,
  mayLinkTo,
  paths,
  rolesPath,
  withQuery,
} from "../paths.ts";
import { type CountedCommunity, verifyUrl } from "./community.ts";
import { addBot, botStep, firstSteps, isReachable, makeFirstSteps, rightsLink } from "./first_steps.ts";
import { makePreview } from "./flow_preview.ts";
import { makeTroubles, troublesHtml } from "./troubles.ts";
import { waysSection } from "./ways_section.ts";

export const saidLabels = {
  displayName: say("community.displayName"),
  supportUrl: say("community.supportUrl"),
  doneText: say("community.doneText"),
} as const;

export const ageLabels = {
  minGameAgeDays: say("community.minGameAgeDays", { platform: platforms.game }),
  minChatAgeDays: say("community.minChatAgeDays", { platform: platforms.chat }),
} as const;

/** The boxes of the section *Who may link*. */
export const boxLabels = {
  freshProof: say("community.fresh_proof"),
  oneChatUser: say("community.one_chat_user", { chat: platforms.chat, game: platforms.game }),
} as const;

const labels = { ...saidLabels, ...ageLabels, ...boxLabels } satisfies Record<keyof ScopeSettings, Html>;

export type Ticked = Pick<ScopeSettings, keyof typeof boxLabels>;

export interface AgeForm extends SentForm, Readonly<Record<keyof typeof ageLabels, string>> {}

export interface SaidForm extends SentForm, Readonly<Record<keyof typeof saidLabels, string>> {}

export const saidIn = (settings: ScopeSettings) => Record.map(saidLabels, (_, name) => settings[name] ?? "");

export const agesIn = (settings: ScopeSettings) =>
  Record.map(ageLabels, (_, name) => String(settings[name] ?? ""));

/** Texts that are left empty are removed. */
const settingsOf = (said: SaidForm) => Record.map(saidLabels, (_, name) => said[name] || null);

export const makeCommunityView = Effect.gen(function* () {
  const stepsOf = yield* makeFirstSteps;
  const { commands, channels } = yield* ChatPlatform;
  const askingName = yield* makeAskingName;
  const preview = yield* makePreview;
  const { counts } = yield* OwnedScopes;
  const game = yield* GamePlatform;
  const stateOf = yield* makeCommunityState;
  const troublesOf = yield* makeTroubles;

  /** The names of the guild's channels by their IDs; none while the chat platform does not answer. */
  const channelNames = Effect.fnUntraced(
    function* (guildId: GuildId | null) {
      const found = guildId === null || channels === undefined ? null : yield* channels.findChannels(guildId);
      return found === null || Option.isNone(found) ? [] : found.value.channels;
    },
    Effect.timeoutOption("2 seconds"),
    Effect.map(Option.getOrElse(() => [])),
    Effect.orElseSucceed(() => []),
    Effect.map((found) => new Map(found.map(({ id, name }) => [id, name]))),
  );

  return Effect.fnUntraced(function* (visitor: OwnerVisitor, community: CountedCommunity, said: SaidForm) {
    const { scope, guildName } = community;
    const { owner } = visitor;
    const guildId = guildOf(scope);
    const state = yield* Effect.orElseSucceed(stateOf(owner, scope.pid), () => null);
    const set = settingsOf(said);
    const texts = { ...noSettings, ...set, displayName: yield* askingName(scope, { ...set, guildName }) };
    return {
      ...(yield* stepsOf(visitor, community)),
      /** Null if the community is closed to its team. Only Premium accounts decide about alts. */
      state: state && { ...state, likelyAlts: owner.account.tier === "premium" ? state.likelyAlts : 0 },
      troubles: (yield* troublesOf(visitor, [community])).flat(),
      channels: yield* channelNames(guildId),
      ways: yield* counts.waysOf(scope.pid),
      /** Whether the game platform tells how old accounts are. */
      hasGameAges: (yield* featuresOf(game)).ages,
      /** The page where owners try the commands of the bot as a member; null on platforms for real members. */
      tryUrl: guildId === null ? null : (commands?.tryUrl?.(guildId) ?? null),
      previews: [
        { title: say("community.preview_begin"), document: preview("begin", texts, visitor) },
        { title: say("community.preview_end"), document: preview("done", texts, visitor) },
      ],
    };
  });
});

type CommunityView = Effect.Success<ReturnType<Effect.Success<typeof makeCommunityView>>>;

export const communityPage = (
  view: CommunityView,
  form: SaidForm,
  ages: AgeForm,
  ticked: Ticked,
  problems: ReadonlyArray<Problem>,
): Page => {
  const { community } = view;
  const { scope, links, keys } = community;
  const isNew = links.count === 0;
  const isSetUp = !isNew && (view.isLinking || scope.kind === "global");
  const of = fieldsOf(saidLabels, form);
  return {
    title: communityName(community),
    section: "communities",
    list: listText(community),
    refused: refusedFor(problems),
    labels,
    content: html`
<p><a href="${to(withQuery(paths.links, { pid: scope.pid }))}">${linksText(links)}</a>${keysHtml(keys)}</p>
${view.state === null ? troublesHtml(view.troubles) : stateSection(view.state, view.channels, troublesHtml(view.troubles))}
${!isSetUp && section(say("steps.title"))`${firstSteps(view)}`}
${linkSection(view)}
${!isNew && waysSection(view.ways)}
${section(say("community.says"), "says")`
<div class="beside">
${formTo(
  communityPath(scope.pid),
  { shown: form.shown ?? marksOf(saidIn(community.settings)) },
  html` class="panel" id="said"`,
)`
${Struct.keys(saidLabels).map((name) =>
  textField({
    ...of(name),
    hint:
      name === "displayName"
        ? say(`community.displayName.hint_${scope.kind === "guild" ? "guild" : "shared"}`, {
            platform: platforms.chat,
          })
        : say(`community.${name}.hint`),
    maxLength: scopeSettings[name].expected.most,
  }),
)}
<p class="row"><button class="button">${say("channels.save")}</button> <button class="button quiet" name="act" value="preview">${say("channels.update")}</button></p>`}
<div class="frames" data-previews="said">${view.previews.map(
  ({ title, document }) => html`<iframe title="${plain(title)}" srcdoc="${document}" sandbox></iframe>`,
)}</div>
</div>`}
${admissionSection(view, ages, ticked)}
${section(say("roles.title"))`
<p>${say("community.roles.text")} <a href="${to(rolesPath(scope.pid))}">${say("community.roles.choose")}</a></p>`}
${section(say("channels.title"), "panel")`
<p>${say("community.channels.text")} <a href="${to(channelsPath(scope.pid))}">${say("community.channels.choose")}</a></p>`}
${section(say("community.bot"))`
${botHtml(view)}`}

${may(
  deleteDataPath(":pid"),
  html`<p class="more"><a class="bad" href="${to(deleteDataPath(scope.pid))}">${say("community.delete", { list: listText(community) })}</a></p>`,
)}`,
  };
};

/** The number of keys, which members of some communities do not see. */
const keysHtml = (count: number): Html =>
  may(paths.keys, html` · <a href="${to(paths.keys)}">${say("communities.keys", { count })}</a>`);

/** What is so in the community now, and where to change it. */
const stateSection = (
  { pid, guildId, ...state }: CommunityState,
  channels: ReadonlyMap<string, string>,
  troubles: ReadonlyArray<Html>,
): Html => {
  if (guildId === null) return html`${troubles}`;
  const channelOf = (id: string, otherwise: Html): Html => {
    const name = channels.get(id);
    return name === undefined ? otherwise : html`<bdi>#${name}</bdi>`;
  };
  const right = (name: keyof CommunityState["rights"]): ReadonlyArray<readonly [Html, Html]> => {
    const isGiven = state.rights[name];
    return isGiven === null
      ? []
      : [[say(`state.rights.${name}`), say(isGiven ? "state.rights.yes" : "state.rights.no")]];
  };
  const rows: ReadonlyArray<readonly [Html, Html]> = [
    // The links are no share of the members: users who left keep their links, and bots are members.
    [say("menu.links"), numberHtml(state.linked)],
    ...(state.members === null ? [] : [[say("rule.members"), numberHtml(state.members)] as const]),
    [
      say("roles.rules"),
      html`<a href="${to(withQuery(rolesPath(pid), { guildId }))}">${say(state.rules === "none" ? "state.rules.none" : `roles.state.${state.rules}`)}</a>`,
    ],
    ...right("roles"),
    ...right("nicknames"),
    [
      say("state.panel"),
      html`<a href="${to(channelsPath(pid))}">${state.panel === null ? say("state.panel.none") : channelOf(state.panel.channelId, say("state.panel.posted"))}</a>`,
    ],
    [
      say("channels.log"),
      html`<a href="${to(channelsPath(pid))}">${state.logChannelId === null ? say("state.log.none") : channelOf(state.logChannelId, say("state.log.on"))}</a>`,
    ],
    [say("state.swept"), state.lastSweepAt === null ? say("state.swept.never") : timeHtml(state.lastSweepAt)],
    ...(state.likelyAlts === 0
      ? []
      : [
          [
            say("state.alts"),
            html`<a href="${to(withQuery(paths.newAlts, { pid }))}">${numberHtml(state.likelyAlts)}</a>`,
          ] as const,
        ]),
  ];
  return section(say("state.title"), "state")`
<dl class="figures">${rows.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
${troubles}`;
};

const ageHint = (platform: Html): Html => say("community.age.hint", { platform });

const admissionSection = ({ community, hasGameAges }: CommunityView, ages: AgeForm, ticked: Ticked): Html => {
  const { scope, settings } = community;
  const { pid } = scope;
  const of = fieldsOf(ageLabels, ages);
  const boxes = Record.map(boxLabels, (_, name) => (settings[name] ? "true" : ""));
  const shown = ages.shown ?? marksOf({ ...agesIn(settings), ...boxes });
  return section(say("community.admission"), "admission")`
${panelTo(communityPath(pid), { shown })`
${hasGameAges || ages.minGameAgeDays !== "" ? textField({ ...of("minGameAgeDays"), hint: ageHint(platforms.game), maxLength: 4 }) : null}
${textField({ ...of("minChatAgeDays"), hint: ageHint(platforms.chat), maxLength: 4 })}
${Struct.keys(boxLabels).map((name) => checkField(name, boxLabels[name], ticked[name]))}
<p class="row"><button class="button" name="act" value="ages">${say("channels.save")}</button></p>`}
<p class="more"><a href="${to(withQuery(paths.blocks, { pid }))}">${say("links.blocked")}</a></p>`;
};

const linkSection = ({ community, publicUrl, isLinking }: CommunityView): Html => {
  const url = verifyUrl(publicUrl, community.scope);
  return section(say("community.verify_link"))`
${
  !isReachable(community, isLinking)
    ? html`<p>${say("community.verify_link.later", {
        roles: linkTo(rolesPath(community.scope.pid)),
        key: mayLinkTo(paths.newKey),
      })}</p>`
    : html`
<div class="beside">
<div>
<p>${say("community.verify_link.text", { list: listText(community), ...platforms })}</p>
${copyable("verify-link", say("channels.copy", { unseen: tags.unseen }), url)}
${originsHtml(community)}
</div>
${qrCode(url, say("community.qr"))}
</div>`
}`;
};

const originsHtml = ({ redirectOrigins }: CountedCommunity): Html => {
  const values = {
    parameter: tags.code(html`&amp;redirect=`),
    a: mayLinkTo(paths.keys),
  };
  return redirectOrigins.length === 0
    ? html`<p>${say("community.redirect.none", values)}</p>`
    : html`
<p>${say("community.redirect", values)}</p>
<ul>${redirectOrigins.map((origin) => html`<li>${origin}</li>`)}</ul>`;
};

const botHtml = (view: CommunityView): Html => {
  const { tryUrl, isLinking } = view;
  const own = guildOf(view.community.scope);
  if (own === null) return botStep(view);
  const guild = view.guilds?.find(({ guildId }) => guildId === own);
  if (guild === undefined) return html`<p>${say("community.bot.unknown")}</p>`;
  return guild.bot
    ? html`<p><span class="badge good">${say("community.bot.in")}</span> ${say("community.bot.in.text")}${
        isLinking ? html` ${say("roles.commands", { code: tags.code })}` : null
      }</p>
${isLinking && tryUrl !== null ? html`<p><a href="${to(tryUrl)}">${say("channels.try")}</a></p>` : null}
${rightsLink(view)}`
    : html`<p><span class="badge bad">${say("community.bot.out")}</span> ${say("community.bot.out.text")}</p>
${addBot(view)}`;
};

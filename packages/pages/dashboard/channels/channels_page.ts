/** The page of the channels in which the bot writes: the log of a community, and the panel. */
import { ChatPlatform, type GuildId } from "@accountlink/core";
import { CommunityStore, makeAskingName } from "@accountlink/core/communities";
import type { GuildChannel, GuildChannels } from "@accountlink/core/platforms";
import type { PlanDetails } from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { ChatSettings, longestPanelText, makeCommunity } from "../../chat/mod.ts";
import { formTo, type Html, html, to } from "../../html.ts";
import { Languages } from "../../languages/mod.ts";
import type { Community } from "../communities/community.ts";
import { rightsFor } from "../communities/first_steps.ts";
import { copyable } from "../look/copyable.ts";
import { hiddenFields, menuField, textField } from "../look/field.ts";
import { communityName } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { channelsPath, communityPath, rolesPath, withQuery } from "../paths.ts";

/** What an owner typed into the forms of the page. */
export interface ChannelsForm {
  readonly logChannelId: string;
  readonly text: string;
  readonly channelId: string;
}

export const channelsLabels = {
  logChannelId: "Channel of the log",
  text: "Text of the panel",
  channelId: "Channel of the panel",
} as const;

/** The stored form: the channel of the log, and the newest panel. */
export const storedForm = ({ community: { logChannelId, panels } }: PlanDetails): ChannelsForm => {
  const { text = null, channelId = "" } = panels.at(-1) ?? {};
  return { logChannelId: logChannelId ?? "", text: text ?? "", channelId };
};

/** The settings of the community that the form of the log sets, and the notice that says so. */
export const typedLog = ({ logChannelId }: ChannelsForm) =>
  logChannelId === ""
    ? ({ settings: { logChannelId: null }, done: "logOff" } as const)
    : ({ settings: { logChannelId }, done: "logOn" } as const);

interface Place {
  readonly community: Community;
  readonly guildId: GuildId;
  /** Null if the platform did not report it. */
  readonly guildName: string | null;
}

/** Returns a function that collects what the page shows besides its forms. */
export const makeChannelsView = Effect.gen(function* () {
  const chat = yield* makeCommunity;
  const askingName = yield* makeAskingName;
  const store = yield* CommunityStore;
  const { isOn } = yield* ChatSettings;
  const { botInvite, commands } = yield* ChatPlatform;
  const languages = yield* Languages;

  return Effect.fnUntraced(function* (
    place: Place,
    { channels, locale }: GuildChannels,
    details: PlanDetails,
  ) {
    const language = yield* languages.ofLocale(locale);
    const { community, guildId } = place;
    const { scope } = community;
    const home = Option.getOrNull(yield* store.findHome(guildId));
    const rights = rightsFor([details.plan], [details.community]) === "none" ? "posts" : "roles_and_posts";
    return {
      ...place,
      channels,
      details,
      name: yield* askingName(scope, { ...community.settings, guildName: place.guildName }),
      language,
      /** The text of the panel if the owner types none. */
      sentence: language.text("chat.panel.ask", { game: chat.game(language) }),
      verify: { label: language.text("chat.verify.start"), url: chat.verifyUrl({ scope, guildId }) },
      roles: language.text("chat.verify.roles"),
      /** Whose rules for roles make the bot answer in the guild. */
      answersFor: home === null ? "nobody" : home.scope.pid === scope.pid ? "this list" : "another list",
      isOn,
      invite: botInvite?.(guildId, rights) ?? null,
      tryUrl: commands?.tryUrl?.(guildId) ?? null,
    } as const;
  });
});

export type ChannelsView = Effect.Success<ReturnType<Effect.Success<typeof makeChannelsView>>>;

type Shown = Pick<Visitor, "platforms">;

/** @param refused why a submitted form was refused; null if none was refused */
export const channelsPage = (
  view: ChannelsView,
  form: ChannelsForm,
  visitor: Shown,
  refused: Refused | null,
): Page => {
  const { community, guildId, guildName } = view;
  return {
    title: `Log and panel of ${guildName ?? `community ${guildId}`}`,
    section: "communities",
    refused,
    labels: channelsLabels,
    content: html`
<p><a href="${to(communityPath(community.scope.pid))}">Back to ${communityName(community)}</a></p>
${logSection(view, form, visitor, refused)}
${panelSection(view, form, refused)}`,
  };
};

/** Asks before the log goes to a channel that every member reads; null if the chosen channel is none. */
export const publicLogPage = (
  { community, guildId, channels, details }: ChannelsView,
  { logChannelId }: ChannelsForm,
): Page | null => {
  const channel = channels.find(({ id }) => id === logChannelId);
  if (channel?.isPublic !== true || !channel.mayPost || logChannelId === details.community.logChannelId)
    return null;
  const { pid } = community.scope;
  return {
    title: `Post the log in #${channel.name}?`,
    section: "communities",
    content: html`
<p>Every member reads <strong>#${channel.name}</strong>. The log names who linked which account and how, who unlinked,
who may be the second account of somebody, who was not admitted, and what your team did with which reason.</p>
<p>Most teams use a channel that only they can read.</p>
${formTo(`${channelsPath(pid)}#log`)}
${hiddenFields({ guildId, logChannelId, confirm: "yes" })}
<p class="row"><button class="button bad" name="act" value="log">Post the log in #${channel.name}</button>
<a class="button quiet" href="${to(withQuery(channelsPath(pid), { guildId: community.scope.kind === "global" ? guildId : null }))}">Choose another channel</a></p>
</form>`,
  };
};

const choicesOf = (channels: ReadonlyArray<GuildChannel>, chosen: string) => [
  ...channels.map(({ id, name, mayPost }) => ({
    value: id,
    label: mayPost ? `# ${name}` : `# ${name} (the bot may not post there)`,
  })),
  ...(chosen === "" || channels.some(({ id }) => id === chosen)
    ? []
    : [{ value: chosen, label: `Channel ${chosen} (deleted)` }]),
];

const start = ({ community, guildId }: ChannelsView, at: string, content: Html): Html => html`
${formTo(`${channelsPath(community.scope.pid)}#${at}`, html` class="panel"`)}
<input type="hidden" name="guildId" value="${guildId}">
${content}
</form>`;

/** Says how the bot gets the right that it lacks in some channels. */
const rightHtml = ({ channels, invite }: ChannelsView, { platforms }: Shown): Html | null => {
  if (channels.every(({ mayPost }) => mayPost)) return null;
  return html`<p>The bot may not post in every channel. ${
    invite === null ? null : html`<a href="${to(invite)}" rel="noreferrer">Give it the right to post</a>. `
  }A channel that is closed to its role has to be opened on ${platforms.chat}, in the permissions of the channel.</p>`;
};

const logSection = (
  view: ChannelsView,
  form: ChannelsForm,
  visitor: Shown,
  refused: Refused | null,
): Html => {
  const { community, status } = view.details;
  const closed = status.problems.find(({ reason }) => reason === "log_channel_closed");
  return html`
<section id="log">
<h2>Log</h2>
<p>The bot tells in a channel who linked which account and how, who unlinked, moved, or was linked by whom, new problems
of the rules, members who are likely somebody's alt, and who was not admitted. Nobody is pinged, and it never tells an
address. Choose a channel that only your team reads.</p>
${
  community.logChannelId === null
    ? html`<p><span class="badge">Off</span></p>`
    : html`<p><span class="badge ${closed === undefined ? "good" : "bad"}">${closed === undefined ? "On" : "Closed"}</span>${
        closed === undefined
          ? null
          : html` The bot has not been able to write since ${timeHtml(closed.at)}. It tries again once a day; what is
            older than an hour is only counted then.`
      }</p>`
}
${start(
  view,
  "log",
  html`
${menuField({
  name: "logChannelId",
  label: channelsLabels.logChannelId,
  value: form.logChannelId,
  problems: refused?.problems ?? [],
  choices: [{ value: "", label: "No log" }, ...choicesOf(view.channels, form.logChannelId)],
})}
<p class="row"><button class="button" name="act" value="log">Save</button></p>`,
)}
${rightHtml(view, visitor)}
</section>`;
};

const panelSection = (view: ChannelsView, form: ChannelsForm, refused: Refused | null): Html => {
  const { name, language, sentence, verify, roles } = view;
  const { text } = form;
  return html`
<section id="panel">
<h2>The panel</h2>
${answersHtml(view)}
${start(
  view,
  "panel",
  html`
${textField({
  name: "text",
  label: channelsLabels.text,
  hint: `At most ${longestPanelText} characters. If empty: ${sentence}`,
  value: text,
  maxLength: longestPanelText,
  problems: refused?.problems ?? [],
})}
${menuField({
  name: "channelId",
  label: channelsLabels.channelId,
  value: form.channelId,
  problems: refused?.problems ?? [],
  choices: [{ value: "", label: "Choose a channel" }, ...choicesOf(view.channels, form.channelId)],
})}
<p class="row"><button class="button" name="act" value="panel">Post the panel</button>
<button class="button quiet" name="act" value="preview">Update the preview</button></p>
<p class="hint">A panel that is in the channel already is changed. If it was deleted, it is posted anew.</p>`,
)}
<figure class="panel">
<figcaption>What members will see</figcaption>
<div lang="${language.tag}" dir="${language.dir}">
<p><strong>${name}</strong><br>${text.trim() || sentence}</p>
<p class="row"><a class="button" href="${to(verify.url)}">${verify.label}</a> <span class="button quiet">${roles}</span></p>
</div>
</figure>
<p>To post a message by hand, use this link:</p>
${copyable("panel-link", "link", verify.url)}
</section>`;
};

const answersHtml = (view: ChannelsView): Html => {
  const { answersFor, isOn, community, guildId, tryUrl } = view;
  const rules = withQuery(rolesPath(community.scope.pid), { guildId });
  if (!isOn) return html`<p>The bot answers no commands: the operator turned them off.</p>`;
  if (answersFor === "nobody")
    return html`<p>The bot tells members that linking is not set up here, until you <a href="${to(rules)}">turn it
      on</a>, with roles or without.</p>`;
  if (answersFor === "another list")
    return html`<p>The bot answers here with another list, whose rules for roles are on. Its panel leads to that list.</p>`;
  return html`<p>The bot answers here. Post the panel in a channel that everybody can see.${
    tryUrl === null ? null : html` <a href="${to(tryUrl)}">Try it as a member</a>`
  }</p>`;
};

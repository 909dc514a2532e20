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
import { say, tags } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import type { Page, Visitor } from "../page.ts";
import { channelsPath, communityPath, rolesPath, withQuery } from "../paths.ts";

/** What an owner typed into the forms of the page. */
export interface ChannelsForm {
  readonly logChannelId: string;
  readonly text: string;
  readonly channelId: string;
}

export const channelsLabels = {
  logChannelId: say("channels.log_channel"),
  text: say("channels.text"),
  channelId: say("channels.panel_channel"),
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
    isWorded: true,
    title: say("channels.title_of", { community: guildName ?? say("channels.unnamed", { id: guildId }) }),
    section: "communities",
    refused,
    labels: channelsLabels,
    content: html`
<p><a href="${to(communityPath(community.scope.pid))}">${say("channels.back", { community: communityName(community) })}</a></p>
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
    isWorded: true,
    title: say("channels.public", { channel: channel.name }),
    section: "communities",
    content: html`
<p>${say("channels.public.text", { b: tags.b, channel: channel.name })}</p>
<p>${say("channels.public.usual")}</p>
${formTo(`${channelsPath(pid)}#log`)}
${hiddenFields({ guildId, logChannelId, confirm: "yes" })}
<p class="row"><button class="button bad" name="act" value="log">${say("channels.public.post", { channel: channel.name })}</button>
<a class="button quiet" href="${to(withQuery(channelsPath(pid), { guildId: community.scope.kind === "global" ? guildId : null }))}">${say("channels.public.other")}</a></p>
</form>`,
  };
};

const choicesOf = (channels: ReadonlyArray<GuildChannel>, chosen: string) => [
  ...channels.map(({ id, name, mayPost }) => ({
    value: id,
    label: mayPost ? `# ${name}` : say("channels.closed", { name }),
  })),
  ...(chosen === "" || channels.some(({ id }) => id === chosen)
    ? []
    : [{ value: chosen, label: say("channels.deleted", { id: chosen }) }]),
];

const start = ({ community, guildId }: ChannelsView, at: string, content: Html): Html => html`
${formTo(`${channelsPath(community.scope.pid)}#${at}`, html` class="panel"`)}
<input type="hidden" name="guildId" value="${guildId}">
${content}
</form>`;

/** Says how the bot gets the right that it lacks in some channels. */
const rightHtml = ({ channels, invite }: ChannelsView, { platforms }: Shown): Html | null => {
  if (channels.every(({ mayPost }) => mayPost)) return null;
  return html`<p>${say("channels.right")} ${
    invite === null
      ? null
      : html`<a href="${to(invite)}" rel="noreferrer">${say("channels.right.give")}</a>. `
  }${say("channels.right.role", { platform: platforms.chat })}</p>`;
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
<h2>${say("channels.log")}</h2>
<p>${say("channels.log.text")}</p>
${
  community.logChannelId === null
    ? html`<p><span class="badge">${say("channels.off")}</span></p>`
    : html`<p><span class="badge ${closed === undefined ? "good" : "bad"}">${say(closed === undefined ? "channels.on" : "channels.shut")}</span>${
        closed === undefined ? null : html` ${say("channels.shut.text", { time: timeHtml(closed.at) })}`
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
  choices: [{ value: "", label: say("channels.no_log") }, ...choicesOf(view.channels, form.logChannelId)],
})}
<p class="row"><button class="button" name="act" value="log">${say("channels.save")}</button></p>`,
)}
${rightHtml(view, visitor)}
</section>`;
};

const panelSection = (view: ChannelsView, form: ChannelsForm, refused: Refused | null): Html => {
  const { name, language, sentence, verify, roles } = view;
  const { text } = form;
  return html`
<section id="panel">
<h2>${say("channels.panel")}</h2>
${answersHtml(view)}
${start(
  view,
  "panel",
  html`
${textField({
  name: "text",
  label: channelsLabels.text,
  hint: say("channels.text.hint", { most: numberHtml(longestPanelText), sentence }),
  value: text,
  maxLength: longestPanelText,
  problems: refused?.problems ?? [],
})}
${menuField({
  name: "channelId",
  label: channelsLabels.channelId,
  value: form.channelId,
  problems: refused?.problems ?? [],
  choices: [{ value: "", label: say("channels.choose") }, ...choicesOf(view.channels, form.channelId)],
})}
<p class="row"><button class="button" name="act" value="panel">${say("channels.post")}</button>
<button class="button quiet" name="act" value="preview">${say("channels.update")}</button></p>
<p class="hint">${say("channels.post.hint")}</p>`,
)}
<figure class="panel">
<figcaption>${say("channels.preview")}</figcaption>
<div lang="${language.tag}" dir="${language.dir}">
<p><strong>${name}</strong><br>${text.trim() || sentence}</p>
<p class="row"><a class="button" href="${to(verify.url)}">${verify.label}</a> <span class="button quiet">${roles}</span></p>
</div>
</figure>
<p>${say("channels.by_hand")}</p>
${copyable("panel-link", say("channels.copy", { unseen: tags.unseen }), verify.url)}
</section>`;
};

const answersHtml = (view: ChannelsView): Html => {
  const { answersFor, isOn, community, guildId, tryUrl } = view;
  const rules = withQuery(rolesPath(community.scope.pid), { guildId });
  if (!isOn) return html`<p>${say("channels.no_commands")}</p>`;
  if (answersFor === "nobody")
    return html`<p>${say("channels.nobody", { a: (content) => html`<a href="${to(rules)}">${content}</a>` })}</p>`;
  if (answersFor === "another list") return html`<p>${say("channels.another")}</p>`;
  return html`<p>${say("channels.here")}${
    tryUrl === null ? null : html` <a href="${to(tryUrl)}">${say("channels.try")}</a>`
  }</p>`;
};

/** The page of the channels in which the bot writes: the log of a community, and the panel. */
import type { GuildChannel } from "@accountlink/core/platforms";
import { longestPanelText } from "../../chat/mod.ts";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { copyable } from "../look/copyable.ts";
import { buttonsOr, checkField, fieldsOf, menuField, textField } from "../look/field.ts";
import { communityName, guildText, platforms } from "../look/names.ts";
import type { Refused } from "../look/refused.ts";
import { say, tags } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { communityPath } from "../paths.ts";
import {
  type ChannelsField,
  type ChannelsForm,
  type ChannelsView,
  channelsLabels,
  notHomeHtml,
  pageOf,
  start,
} from "./channels_view.ts";
import { remindersSection } from "./reminders_section.ts";

export const channelsPage = (view: ChannelsView, form: ChannelsForm, refused: Refused | null): Page => {
  const { community, guildId, guildName } = view;
  const field = fieldsOf(channelsLabels, form);
  return {
    title: say("channels.title_of", { community: guildText(guildId, guildName) }),
    section: "communities",
    refused,
    labels: channelsLabels,
    content: html`
<p><a href="${to(communityPath(community.scope.pid))}">${say("channels.back", { community: communityName(community) })}</a></p>
${logSection(view, field("logChannelId"))}
${panelSection(view, field("text"), field("channelId"))}
${remindersSection(view, field("remindAfterDays"))}
${tellsSection(view)}`,
  };
};

/** Asks before the log goes to a channel that every member reads; null for another channel. */
export const publicLogPage = (view: ChannelsView, { logChannelId }: ChannelsForm): Page | null => {
  const { guildId, channels, details } = view;
  const channel = channels.find(({ id }) => id === logChannelId);
  if (channel?.isPublic !== true || !channel.mayPost || logChannelId === details.community.logChannelId)
    return null;
  return {
    title: say("channels.public", { channel: channel.name }),
    section: "communities",
    content: html`
<p>${say("channels.public.text", { b: tags.b, channel: channel.name })}</p>
<p>${say("channels.public.usual")}</p>
${formTo(pageOf(view), { guildId, logChannelId, confirm: "yes" })`
${buttonsOr(html`<button class="button bad" name="act" value="log">${say("channels.public.post", { channel: channel.name })}</button>`, pageOf(view), say("channels.public.other"))}`}`,
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

/** Says how the bot gets the right that it lacks in some channels. */
const rightHtml = ({ channels, invite }: ChannelsView): Html | null => {
  if (channels.every(({ mayPost }) => mayPost)) return null;
  return html`<p>${say("channels.right")} ${
    invite !== null && html`<a href="${to(invite)}" rel="noreferrer">${say("channels.right.give")}</a>. `
  }${say("channels.right.role", { platform: platforms.chat })}</p>`;
};

const logSection = (view: ChannelsView, field: ChannelsField): Html => {
  const { community, status } = view.details;
  const closed = status.problems.find(({ reason }) => reason === "log_channel_closed");
  return section(say("channels.log"), "log")`
<p>${say("channels.log.text")}</p>
${
  community.logChannelId === null
    ? html`<p><span class="badge">${say("channels.off")}</span></p>`
    : html`<p><span class="badge ${closed === undefined ? "good" : "bad"}">${say(closed === undefined ? "channels.on" : "channels.shut")}</span>${
        closed !== undefined && html` ${say("channels.shut.text", { time: timeHtml(closed.at) })}`
      }</p>`
}
${start(view)`
${menuField({
  ...field,
  choices: [{ value: "", label: say("channels.no_log") }, ...choicesOf(view.channels, field.value)],
})}
<p class="row"><button class="button" name="act" value="log">${say("channels.save")}</button></p>`}
${rightHtml(view)}`;
};

const panelSection = (view: ChannelsView, text: ChannelsField, channel: ChannelsField): Html => {
  const { name, language, sentence, verify, roles } = view;
  return section(say("channels.panel"), "panel")`
${answersHtml(view)}
${start(view)`
${textField({
  ...text,
  hint: say("channels.text.hint", {
    most: numberHtml(longestPanelText),
    sentence: html`<span lang="${language.tag}" dir="${language.dir}">${sentence}</span>`,
  }),
  maxLength: longestPanelText,
})}
${menuField({
  ...channel,
  choices: [{ value: "", label: say("channels.choose") }, ...choicesOf(view.channels, channel.value)],
})}
<p class="row"><button class="button" name="act" value="panel">${say("channels.post")}</button>
<button class="button quiet" name="act" value="preview" formaction="${to(`${pageOf(view)}#panel`)}">${say("channels.update")}</button></p>
<p class="hint">${say("channels.post.hint")}</p>`}
<figure class="panel">
<figcaption>${say("channels.preview")}</figcaption>
<div lang="${language.tag}" dir="${language.dir}">
<p><strong>${name}</strong><br>${text.value.trim() || sentence}</p>
<p class="row"><a class="button" href="${to(verify.url)}">${verify.label}</a> <span class="button quiet">${roles}</span></p>
</div>
</figure>
<p>${say("channels.by_hand")}</p>
${copyable("panel-link", say("channels.copy", { unseen: tags.unseen }), verify.url)}`;
};

const tellsSection = (view: ChannelsView): Html => section(say("tells.title"), "tells")`
<p>${say("tells.text")}</p>
${start(view)`
${checkField("tellTroubles", say("tells.check"), view.details.community.tellTroubles)}
<p class="row"><button class="button" name="act" value="tells">${say("channels.save")}</button></p>`}`;

const answersHtml = (view: ChannelsView): Html => {
  const { isOn, tryUrl } = view;
  if (!isOn) return html`<p>${say("channels.no_commands")}</p>`;
  const here = html`<p>${say("channels.here")}${
    tryUrl !== null && html` <a href="${to(tryUrl)}">${say("channels.try")}</a>`
  }</p>`;
  return notHomeHtml(view) ?? here;
};

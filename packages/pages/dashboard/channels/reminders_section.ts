/** The section in which owners let the bot remind members who have not linked, and the page that asks before. */
import { mayLink } from "@accountlink/core/communities";
import { reminderPause } from "@accountlink/core/reminders";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { buttonsOr, textField } from "../look/field.ts";
import { platforms } from "../look/names.ts";
import { capitalised, say, tags } from "../look/say.ts";
import { durationHtml } from "../look/time.ts";
import type { Page } from "../page.ts";
import { paths, withQuery } from "../paths.ts";
import {
  type ChannelsField,
  type ChannelsForm,
  type ChannelsView,
  notHomeHtml,
  pageOf,
  start,
} from "./channels_view.ts";

/** The number of days that the form of reminders sets; null for no reminders, NaN for other text. */
export const typedDays = ({ remindAfterDays: typed }: ChannelsForm): number | null =>
  typed === "" ? null : /^\d{1,3}$/.test(typed) ? Number(typed) : Number.NaN;

/**
 * Says what happens before reminders are turned on.
 *
 * @param members how many members get a message at once; null if unknown
 */
export const remindersPage = (
  view: ChannelsView,
  days: number,
  members: number | null,
  perMinute: number,
): Page => {
  const { guildId, verify, name, sentence, language } = view;
  const duration = (members ?? 0) * Math.max(reminderPause, 60_000 / perMinute);
  return {
    title: say("reminders.ask"),
    section: "communities",
    content: html`
${notHomeHtml(view)}
<p>${
      members === null
        ? say("reminders.ask.unknown")
        : say("reminders.ask.members", { b: tags.b, members, days })
    } ${duration >= 60_000 && say("reminders.ask.time", { time: durationHtml(duration) })}
${say("reminders.ask.later")}</p>
<p>${say("reminders.ask.once")}</p>
<figure class="panel">
<div lang="${language.tag}" dir="${language.dir}">
<p><strong>${name}</strong><br>${sentence}</p>
<p class="row"><a class="button" href="${to(verify.url)}">${verify.label}</a></p>
</div>
</figure>
<p>${capitalised(say("reminders.ask.risk", { platform: platforms.chat }))}</p>
<p>${say("reminders.ask.back")}</p>
${formTo(pageOf(view), { guildId, remindAfterDays: String(days), confirm: "yes" })`
${buttonsOr(html`<button class="button" name="act" value="reminders">${say("reminders.ask.on")}</button>`, pageOf(view), say("reminders.ask.cancel"))}`}`,
  };
};

export const remindersSection = (view: ChannelsView, field: ChannelsField): Html => {
  const { community } = view.details;
  const notHome = notHomeHtml(view);
  const isSet = community.remindAfterDays !== null;
  return section(say("reminders.title"), "reminders")`
<p>${say("reminders.text")}</p>
${notHome}
${
  !isSet || notHome !== null || !mayLink(community)
    ? html`<p><span class="badge">${say("channels.off")}</span></p>`
    : html`<p><span class="badge good">${say("channels.on")}</span>
<a href="${to(withQuery(paths.unlinked, { guildId: view.guildId }))}">${say("reminders.who")}</a></p>`
}
${
  (isSet || notHome === null) &&
  start(view)`
${textField({ ...field, hint: say("reminders.days.hint") })}
<p class="row"><button class="button" name="act" value="reminders">${say("reminders.next")}</button></p>`
}`;
};

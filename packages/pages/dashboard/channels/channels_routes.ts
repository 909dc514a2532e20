/** Routes of the page on which owners choose the channel of the log, and post the panel. */
import { Communities, communitySettingNames, placeOf } from "@accountlink/core/communities";
import { InvalidParameter } from "@accountlink/core/errors";
import { originOf } from "@accountlink/core/keys";
import { UnlinkedMembers } from "@accountlink/core/owners";
import { type GuildChannel, makeGuildChannels } from "@accountlink/core/platforms";
import { RemindersPerMinute } from "@accountlink/core/reminders";
import { RolePlans } from "@accountlink/core/roles";
import { dayMs } from "@accountlink/core/timestamp";
import { DashboardChannels, DashboardRoles } from "@accountlink/http-api";
import { Effect, Option, Struct } from "effect";
import { longestPanelText, makePostPanel } from "../../chat/mod.ts";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { formOperation, jsonRoutes, makeOperation } from "../api_pipeline.ts";
import { type ManagedGuild, makeInGuild } from "../communities/managed_guild.ts";
import type { Fields } from "../form_fields.ts";
import { copyable } from "../look/copyable.ts";
import { buttonsOr, checkField, fieldsOf, menuField, textField } from "../look/field.ts";
import { communityName, guildText, platforms } from "../look/names.ts";
import type { NoticeName } from "../look/notice.ts";
import { guildErrors, orShowAgain, type Refused } from "../look/refused.ts";
import { say, tags } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import { type OwnerPages, type OwnerVisitor, seeOther, typedIn } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { channelsPath, communityPath } from "../paths.ts";
import {
  type ChannelsField,
  type ChannelsForm,
  type ChannelsView,
  channelsLabels,
  makeChannelsView,
  notHomeHtml,
  pageOf,
  start,
  storedForm,
} from "./channels_view.ts";
import { remindersPage, remindersSection, typedDays } from "./reminders_section.ts";

const listWait = "2 seconds";

export const channelsRoutes = Effect.fnUntraced(function* (pages: OwnerPages) {
  const plans = yield* RolePlans;
  const { check } = yield* Communities;
  const unlinked = yield* UnlinkedMembers;
  const inGuild = yield* makeInGuild(pages, channelsPath, say("channels.title"));
  const { findChannels } = yield* makeGuildChannels;
  const operations = yield* makeChannelOperations;
  const viewOf = yield* makeChannelsView;
  const perMinute = yield* RemindersPerMinute;

  const viewIn = Effect.fnUntraced(function* (guild: ManagedGuild) {
    return yield* viewOf(guild, yield* findChannels(guild.guildId), yield* plans.find(guild));
  });

  const show = (guild: ManagedGuild, typed: Partial<ChannelsForm>, refused: Refused | null) =>
    Effect.map(viewIn(guild), (found) =>
      channelsPage(found, { ...storedForm(found.details), ...typed }, refused),
    );

  const submit = (visitor: OwnerVisitor, guild: ManagedGuild, fields: Fields) => {
    const { scope, guildId } = guild;
    const typed = typedIn(channelsLabels, fields);
    const ofPanel = Struct.pick(typed, ["text", "channelId"]);
    const place = { ...placeOf(guild) };
    const save = operations.saveSettings.submit(visitor, fields, place);
    const see = (done: NoticeName) =>
      seeOther(channelsPath(scope.pid), { guildId: scope.kind === "global" ? guildId : null, done });

    const saveLog = Effect.gen(function* () {
      const view = yield* viewIn(guild);
      const { logChannelId } = typed;
      // A stored channel that is closed by now is refused here alone, since programs send it with other settings.
      if (logChannelId !== "" && !view.channels.some(({ id, mayPost }) => id === logChannelId && mayPost))
        return yield* InvalidParameter.one("logChannelId", { is: "channel" });
      const question = fields("confirm") === "yes" ? null : publicLogPage(view, typed);
      if (question !== null) return question;
      yield* save;
      return see(typed.logChannelId === "" ? "logOff" : "logOn");
    });

    const saveReminders = Effect.gen(function* () {
      const days = typedDays(typed);
      if (days !== null && fields("confirm") !== "yes") {
        yield* check(guild, { remindAfterDays: days });
        const before = visitor.context.clock.currentTimeMillisUnsafe() - days * dayMs;
        const members = yield* Effect.timeoutOption(unlinked.toRemind(scope, guildId, before), listWait).pipe(
          Effect.map(Option.map(({ length }) => length)),
          Effect.catchTag(["Conflict", "PlatformUnavailable"], () => Effect.succeedNone),
        );
        return remindersPage(yield* viewIn(guild), days, Option.getOrNull(members), perMinute);
      }
      yield* save;
      return see(days === null ? "remindersOff" : "remindersOn");
    });

    // Browsers send only a ticked box.
    const ticked = { ...place, tellTroubles: fields("tellTroubles") === "true" };
    const saveTells = Effect.as(operations.saveSettings.submit(visitor, fields, ticked), see("tellsSaved"));
    const post = Effect.as(operations.postPanel.submit(visitor, fields, place), see("panelPosted"));

    switch (fields("act")) {
      case "log":
        return orShowAgain(saveLog, (refused) => show(guild, Struct.pick(typed, ["logChannelId"]), refused));
      case "reminders":
        return orShowAgain(saveReminders, (refused) =>
          show(guild, Struct.pick(typed, ["remindAfterDays"]), refused),
        );
      case "tells":
        return orShowAgain(saveTells, (refused) => show(guild, {}, refused));
      case "panel":
        return orShowAgain(post, (refused) => show(guild, ofPanel, refused), guildErrors);
      default:
        return show(guild, ofPanel, null);
    }
  };

  return [
    ...jsonRoutes(operations),
    inGuild.page(channelsPath(":pid"), (_, guild) => show(guild, {}, null)),
    inGuild.form(channelsPath(":pid"), submit),
  ];
});

const channelsPage = (view: ChannelsView, form: ChannelsForm, refused: Refused | null): Page => {
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
const publicLogPage = (view: ChannelsView, { logChannelId }: ChannelsForm): Page | null => {
  const { guildId, channels, details } = view;
  const channel = channels.find(({ id }) => id === logChannelId);
  if (channel?.isPublic !== true || logChannelId === details.community.logChannelId) return null;
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

/** The settings of a community in `putRoles`, which programs call. */
const ofCommunity = {
  role: "admin" as const,
  parameters: Struct.pick(DashboardRoles.putRoles.parameters, ["pid", "guildId", ...communitySettingNames]),
};

/** What members and keys do with the channels of a guild, by JSON and by the forms of the page. */
const makeChannelOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const { enter, update } = yield* Communities;
  const { findChannels } = yield* makeGuildChannels;
  const postPanel = yield* makePostPanel;

  return {
    saveSettings: formOperation(ofCommunity, function* ({ owner, values }) {
      yield* update(yield* enter(owner, values), values, originOf(owner));
    }),

    list: operation(DashboardChannels.getChannels, function* ({ owner, values }) {
      const { guildId } = yield* enter(owner, values);
      const { channels } = yield* findChannels(guildId);
      return { channels: channels.map(Struct.pick(["id", "name", "mayPost"])) };
    }),

    postPanel: operation(DashboardChannels.postPanel, function* ({ owner, values }) {
      const { channelId, text } = values;
      const guild = yield* enter(owner, values);
      return { messageId: yield* postPanel(guild, channelId, text, originOf(owner)) };
    }),
  };
});

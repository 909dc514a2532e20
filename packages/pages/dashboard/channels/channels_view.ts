/** What the page of the channels shows, and the parts that its sections share. */
import { ChatPlatform } from "@accountlink/core";
import { CommunityStore, makeAskingName } from "@accountlink/core/communities";
import type { GuildChannels } from "@accountlink/core/platforms";
import type { PlanDetails } from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { ChatSettings, makeCommunity } from "../../chat/mod.ts";
import { type Html, html } from "../../html.ts";
import { Languages } from "../../languages/mod.ts";
import { rightsFor } from "../communities/first_steps.ts";
import type { ManagedGuild } from "../communities/managed_guild.ts";
import { fieldsOf, panelTo } from "../look/field.ts";
import { linkTo, say } from "../look/say.ts";
import { channelsPath, rolesPath, withQuery } from "../paths.ts";

export const channelsLabels = {
  logChannelId: say("channels.log_channel"),
  text: say("channels.text"),
  channelId: say("channels.panel_channel"),
  remindAfterDays: say("reminders.days"),
} as const;

export type ChannelsForm = Readonly<Record<keyof typeof channelsLabels, string>>;

export type ChannelsField = ReturnType<ReturnType<typeof fieldsOf<keyof ChannelsForm>>>;

/** The stored form: the channel of the log, and the newest panel. */
export const storedForm = ({
  community: { logChannelId, remindAfterDays, panels },
}: PlanDetails): ChannelsForm => {
  const { text = null, channelId = "" } = panels.at(-1) ?? {};
  const days = remindAfterDays === null ? "" : String(remindAfterDays);
  return { logChannelId: logChannelId ?? "", text: text ?? "", channelId, remindAfterDays: days };
};

export const makeChannelsView = Effect.gen(function* () {
  const chat = yield* makeCommunity;
  const askingName = yield* makeAskingName;
  const store = yield* CommunityStore;
  const { isOn } = yield* ChatSettings;
  const { botInvite, commands } = yield* ChatPlatform;
  const languages = yield* Languages;

  return Effect.fnUntraced(function* (
    guild: ManagedGuild,
    { channels, locale }: GuildChannels,
    details: PlanDetails,
  ) {
    const language = yield* languages.ofLocale(locale);
    const { community, guildId, guildName, scope } = guild;
    const home = Option.getOrNull(yield* store.findHome(guildId));
    const rights = rightsFor([details.plan], [details.community]) === "none" ? "posts" : "roles_and_posts";
    return {
      ...guild,
      channels,
      details,
      name: yield* askingName(scope, { ...community.settings, guildName }),
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

/** The page itself. Only a shared list has several guilds. */
export const pageOf = ({ scope, guildId }: ChannelsView): string =>
  withQuery(channelsPath(scope.pid), { guildId: scope.kind === "global" ? guildId : null });

/** Says that the bot does not answer with this list, nor reminds its members; null if it does. */
export const notHomeHtml = ({ answersFor, community, guildId }: ChannelsView): Html | null => {
  if (answersFor === "this list") return null;
  const rules = withQuery(rolesPath(community.scope.pid), { guildId });
  return html`<p>${
    answersFor === "nobody" ? say("channels.nobody", { a: linkTo(rules) }) : say("channels.another")
  }</p>`;
};

/** Makes the form of a section. Its answer begins at the top, since an address with `#` would keep its message unfocused. */
export const start = (view: ChannelsView): typeof html => panelTo(pageOf(view), { guildId: view.guildId });

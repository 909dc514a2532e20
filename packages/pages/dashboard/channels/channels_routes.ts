/** Routes of the page on which owners choose the channel of the log, and post the panel. */
import { Communities, placeOf } from "@accountlink/core/communities";
import { UnlinkedMembers } from "@accountlink/core/owners";
import { makeGuildChannels } from "@accountlink/core/platforms";
import { RemindersPerMinute } from "@accountlink/core/reminders";
import { RolePlans } from "@accountlink/core/roles";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect, Option, Struct } from "effect";
import { jsonRoutes } from "../api_pipeline.ts";
import { type ManagedGuild, makeInGuild } from "../communities/managed_guild.ts";
import type { Fields } from "../form_fields.ts";
import type { NoticeName } from "../look/notice.ts";
import { guildErrors, orShowAgain, type Refused } from "../look/refused.ts";
import { say } from "../look/say.ts";
import { type OwnerPages, type OwnerVisitor, seeOther, typedIn } from "../owner_pages.ts";
import { channelsPath } from "../paths.ts";
import { makeChannelOperations } from "./channel_operations.ts";
import { channelsPage, publicLogPage } from "./channels_page.ts";
import { type ChannelsForm, channelsLabels, makeChannelsView, storedForm } from "./channels_view.ts";
import { remindersPage, typedDays } from "./reminders_section.ts";

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
      const question = fields("confirm") === "yes" ? null : publicLogPage(yield* viewIn(guild), typed);
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

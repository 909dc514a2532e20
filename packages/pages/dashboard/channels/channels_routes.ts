/** Routes of the page on which owners choose the channel of the log, and post the panel. */
import { type DataScope, guildOf } from "@accountlink/core";
import { Communities } from "@accountlink/core/communities";
import { originOf } from "@accountlink/core/keys";
import { UnlinkedMembers } from "@accountlink/core/owners";
import { makeGuildChannels } from "@accountlink/core/platforms";
import { RolePlans } from "@accountlink/core/roles";
import { dayMs } from "@accountlink/core/timestamp";
import type { HttpResponse } from "@accountlink/http/for_pages";
import { Effect, Option, Struct } from "effect";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { jsonRoutes } from "../api_pipeline.ts";
import { makeCommunities } from "../communities/community.ts";
import { guildErrors, orShowAgain, type Refused } from "../look/refused.ts";
import { say } from "../look/say.ts";
import { makeGuildChoice, type OwnerPages, type OwnerVisitor, seeOther, typedIn } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { channelsPath } from "../paths.ts";
import { guildChoicePage, refusedGuildPage } from "../roles/guild_pages.ts";
import { makeChannelOperations } from "./channel_operations.ts";
import { channelsPage, publicLogPage } from "./channels_page.ts";
import {
  type ChannelsForm,
  type ChannelsView,
  channelsLabels,
  makeChannelsView,
  storedForm,
  typedLog,
} from "./channels_view.ts";
import { remindersPage, typedDays } from "./reminders_section.ts";

/** How long the page waits for the list of a guild's members. */
const listWait = "2 seconds";

type Show = (typed: Partial<ChannelsForm>, refused: Refused | null) => Effect.Effect<Page, SiteError>;

export const channelsRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const plans = yield* RolePlans;
  const { enter, check, update } = yield* Communities;
  const unlinked = yield* UnlinkedMembers;
  const communities = yield* makeCommunities;
  const guildsOf = yield* makeGuildChoice;
  const { findChannels } = yield* makeGuildChannels;
  const operations = yield* makeChannelOperations;
  const viewOf = yield* makeChannelsView;

  /** Calls `answer` for a guild that the visitor manages. The visitor of a shared list first chooses one. */
  const inGuild = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    chosen: string,
    answer: (
      place: { readonly scope: DataScope; readonly guildId: NonNullable<ReturnType<typeof guildOf>> },
      show: Show,
      view: Effect.Effect<ChannelsView, SiteError>,
    ) => Effect.Effect<Page | HttpResponse, SiteError>,
  ) {
    const community = yield* communities.find(visitor, String(visitor.context.query["pid"]));
    const guilds = (yield* guildsOf(visitor)) ?? [];
    const guildId = guildOf(community.scope) ?? guilds.find((guild) => guild.guildId === chosen)?.guildId;
    if (guildId === undefined)
      return guildChoicePage(community, guilds, visitor, channelsPath, say("channels.title"));
    const guildName = guilds.find((guild) => guild.guildId === guildId)?.name ?? community.guildName;

    const view = Effect.gen(function* () {
      const details = yield* plans.find(community.scope, guildId);
      return yield* viewOf({ community, guildId, guildName }, yield* findChannels(guildId), details);
    });

    const show: Show = (typed, refused) =>
      Effect.map(view, (found) =>
        channelsPage(found, { ...storedForm(found.details), ...typed }, visitor, refused),
      );

    return yield* enter(visitor.owner, community.scope.pid, guildId).pipe(
      Effect.flatMap((scope) => answer({ scope, guildId }, show, view)),
      Effect.catchTag("Forbidden", (error) =>
        Effect.succeed(refusedGuildPage(community, error, visitor, say("channels.title"))),
      ),
    );
  });

  return [
    ...jsonRoutes(operations),
    page(channelsPath(":pid"), (visitor, query) =>
      inGuild(visitor, query("guildId"), (_, show) => show({}, null)),
    ),

    form(channelsPath(":pid"), (visitor, fields) =>
      inGuild(visitor, fields("guildId"), ({ scope, guildId }, show, view) => {
        const typed = typedIn(channelsLabels, fields);
        const ofPanel = Struct.pick(typed, ["text", "channelId"]);
        const seen = { guildId: scope.kind === "global" ? guildId : null };

        const saveLog = Effect.gen(function* () {
          const { settings, done } = typedLog(typed);
          const question = fields("confirm") === "yes" ? null : publicLogPage(yield* view, typed);
          if (question !== null) return question;
          yield* update(scope, guildId, settings, originOf(visitor.owner));
          return seeOther(channelsPath(scope.pid), { ...seen, done });
        });

        const saveReminders = Effect.gen(function* () {
          const days = typedDays(typed);
          yield* check(scope, guildId, { remindAfterDays: days });
          if (days !== null && fields("confirm") !== "yes") {
            const before = visitor.context.clock.currentTimeMillisUnsafe() - days * dayMs;
            const members = yield* Effect.timeoutOption(
              unlinked.joinedBefore(scope, guildId, before),
              listWait,
            ).pipe(
              Effect.map(Option.map(({ length }) => length)),
              Effect.catchTag(["Conflict", "PlatformUnavailable"], () => Effect.succeedNone),
            );
            return remindersPage(yield* view, days, Option.getOrNull(members));
          }
          yield* update(scope, guildId, { remindAfterDays: days }, originOf(visitor.owner));
          return seeOther(channelsPath(scope.pid), {
            ...seen,
            done: days === null ? "remindersOff" : "remindersOn",
          });
        });

        const post = Effect.as(
          operations.postPanel.submit(visitor, fields, { pid: scope.pid, guildId }),
          seeOther(channelsPath(scope.pid), { ...seen, done: "panelPosted" }),
        );

        switch (fields("act")) {
          case "log":
            return orShowAgain(saveLog, (refused) =>
              show(Struct.omit(typed, ["text", "channelId"]), refused),
            );
          case "reminders":
            return orShowAgain(saveReminders, (refused) =>
              show(Struct.pick(typed, ["remindAfterDays"]), refused),
            );
          case "panel":
            return orShowAgain(post, (refused) => show(ofPanel, refused), guildErrors, visitor.platforms);
          default:
            return show(ofPanel, null);
        }
      }),
    ),
  ];
});

/** Routes of the role plans: the page of a guild's plan, and its forms. */
import { ChatPlatform, type DataScope, GamePlatform, guildOf } from "@accountlink/core";
import { Communities, CommunityStore, isLinkingOn } from "@accountlink/core/communities";
import { type GuildId, isChatId } from "@accountlink/core/ids";
import { originOf } from "@accountlink/core/keys";
import { OwnedLinks } from "@accountlink/core/owners";
import type { RankedGroup } from "@accountlink/core/platforms";
import { changedSettings, mostRules, type PlanState, planVersion, RolePlans } from "@accountlink/core/roles";
import type { HttpResponse } from "@accountlink/http/for_pages";
import { Effect, Option } from "effect";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { makeAccountNames } from "../audit/entry_names.ts";
import { type Community, makeCommunities } from "../communities/community.ts";
import type { NoticeName } from "../look/notice.ts";
import { orShowAgain, type Refused, refusedFor } from "../look/refused.ts";
import { say } from "../look/say.ts";
import { makeNameSearch } from "../members/name_search.ts";
import {
  type Fields,
  makeAccountTitle,
  makeGuildChoice,
  type OwnerPages,
  type OwnerVisitor,
  seeOther,
} from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { nicknamesPath, rolesPath, rolesPreviewPath } from "../paths.ts";
import { guildChoicePage, refusedGuildPage } from "./guild_pages.ts";
import { type RolePreview } from "./member_preview.ts";
import { nicknamesFile, nicknamesView } from "./nicknames_section.ts";
import { examplesIn, type PreviewView, previewPage } from "./preview_page.ts";
import {
  changedRules,
  filledRules,
  formOfPlan,
  type RolesForm,
  ranksWithoutRole,
  rulesOfRanks,
  settingsOf,
  typedRoles,
} from "./role_form.ts";
import { rolesPage } from "./roles_page.ts";
import { offeredBy } from "./rule_choices.ts";
import { makeThings } from "./things.ts";

/** What the page of a role plan shows in addition to the stored plan. */
interface Shown {
  readonly typed?: RolesForm;
  readonly preview?: RolePreview;
  readonly ranked?: RankedGroup;
  readonly asksForRoles?: boolean;
  readonly refused?: Refused | null;
}

export const rolesRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const plans = yield* RolePlans;
  const { enter } = yield* Communities;
  const store = yield* CommunityStore;
  const communities = yield* makeCommunities;
  const namesIn = yield* makeAccountNames;
  const links = yield* OwnedLinks;
  const guildsOf = yield* makeGuildChoice;
  const titleOf = yield* makeAccountTitle;
  const findByName = yield* makeNameSearch;
  const thingsOf = yield* makeThings;
  const game = yield* GamePlatform;
  const { botInvite, commands } = yield* ChatPlatform;

  /** Finds the other list, or the other account, whose rules for the guild are on. */
  const rivalOf = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    { scope: { pid } }: Community,
    guildId: GuildId,
  ) {
    const home = Option.getOrNull(yield* store.findHome(guildId));
    if (home === null || home.scope.pid === pid || !isLinkingOn(home)) return null;
    const { scope } = home;
    if (scope.account === visitor.owner.account.name)
      return { list: yield* communities.find(visitor, scope.pid) };
    // Do not tell the name of an account of strangers.
    const own = visitor.accounts.find(({ account }) => account.name === scope.account);
    return { account: own === undefined ? null : yield* titleOf(own.account) };
  });

  /**
   * Calls `answer` for a guild whose role plan the visitor may change. If several guilds share the list of links, the
   * visitor first chooses one of the guilds.
   */
  const inGuild = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    chosen: string,
    answer: (
      scope: DataScope,
      guildId: GuildId,
      show: (shown: Shown) => Effect.Effect<Page, SiteError>,
    ) => Effect.Effect<Page | HttpResponse, SiteError>,
  ) {
    const community = yield* communities.find(visitor, String(visitor.context.query["pid"]));
    const guilds = (yield* guildsOf(visitor)) ?? [];
    const guildId = guildOf(community.scope) ?? guilds.find((guild) => guild.guildId === chosen)?.guildId;
    if (guildId === undefined) return guildChoicePage(community, guilds, visitor);
    const guildName = guilds.find((guild) => guild.guildId === guildId)?.name ?? community.guildName;

    const show = Effect.fnUntraced(function* ({
      typed,
      preview,
      ranked,
      asksForRoles = false,
      refused = null,
    }: Shown) {
      const details = yield* plans.find(community.scope, guildId);
      const home = Option.getOrNull(yield* store.findHome(guildId))?.scope.pid;
      const shown = typed ?? formOfPlan(details.plan);
      const view = {
        community,
        guildId,
        guildName,
        details,
        isTyped: typed !== undefined,
        isHome: home === community.scope.pid,
        roles: yield* plans.guildRoles(guildId),
        things: yield* thingsOf(shown),
        ...(yield* offeredBy(game)),
        names: (yield* namesIn(
          details.status.problems.flatMap(({ chatId }) => (chatId === null ? [] : [{ chatId }])),
        )).chats,
        preview: preview ?? null,
        ranked: ranked ?? null,
        asksForRoles,
        invite: botInvite?.(guildId, "roles") ?? null,
        tryUrl: commands?.tryUrl?.(guildId) ?? null,
        rival: yield* rivalOf(visitor, community, guildId),
        nicknames: yield* nicknamesView(plans, community.scope, guildId),
      };
      return rolesPage(view, shown, visitor, refused);
    });

    return yield* enter(visitor.owner, community.scope.pid, guildId).pipe(
      Effect.flatMap((scope) => answer(scope, guildId, show)),
      Effect.catchTag("Forbidden", (error) => Effect.succeed(refusedGuildPage(community, error, visitor))),
    );
  });

  /**
   * Shows what a preview found; a redirect to the rules if there is none any more.
   *
   * @param seen the version of the plan that the owner edited; empty if unknown
   */
  const showPreview = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    scope: DataScope,
    guildId: GuildId,
    seen: string,
    refused: Refused | null = null,
  ) {
    const preview = yield* plans.findPreview(scope, guildId);
    if (preview === null) return seeOther(rolesPath(scope.pid), { guildId });
    const { plan } = yield* plans.find(scope, guildId);
    const community = yield* communities.find(visitor, scope.pid);
    const guilds = (yield* guildsOf(visitor)) ?? [];
    const view: PreviewView = {
      community,
      guildId,
      guildName: guilds.find((guild) => guild.guildId === guildId)?.name ?? community.guildName,
      preview,
      isOn: plan.state === "on",
      unlinked: plan.state === "on" ? plan.unlinked : "keep",
      roles: yield* plans.guildRoles(guildId),
      names: (yield* namesIn([...preview.names, ...examplesIn(preview)])).chats,
      // After a refusal, who saves again has read that the rules changed.
      seen: refused === null && seen !== "" ? seen : planVersion(plan),
      platforms: visitor.platforms,
    };
    return previewPage(view, refused);
  });

  return [
    page(rolesPath(":pid"), (visitor, query) =>
      inGuild(visitor, query("guildId"), (scope, guildId, show) =>
        Effect.gen(function* () {
          const draft = query("draft") === "1" ? yield* plans.findPreview(scope, guildId) : null;
          return yield* show(draft === null ? {} : { typed: formOfPlan(draft.settings) });
        }),
      ),
    ),

    page(rolesPreviewPath(":pid"), (visitor, query) =>
      inGuild(visitor, query("guildId"), (scope, guildId) =>
        showPreview(visitor, scope, guildId, query("seen")),
      ),
    ),

    page(nicknamesPath(":pid"), (visitor, query) =>
      inGuild(visitor, query("guildId"), (scope, guildId) => nicknamesFile(plans, scope, guildId)),
    ),

    form(rolesPreviewPath(":pid"), (visitor, fields) =>
      inGuild(visitor, fields("guildId"), (scope, guildId) =>
        Effect.gen(function* () {
          const preview = yield* plans.findPreview(scope, guildId);
          if (preview === null) return seeOther(rolesPath(scope.pid), { guildId });
          if (fields("act") === "again") {
            yield* plans.previewAll(scope, guildId, preview.settings);
            return seePreview(scope, guildId, fields("seen"));
          }
          if (preview.id !== fields("id") || preview.state !== "done")
            return seePreview(scope, guildId, fields("seen"));
          const chosen = fields("unlinked");
          const unlinked = chosen === "keep" || chosen === "remove" ? chosen : preview.settings.unlinked;
          const settings = { ...preview.settings, unlinked, state: "on" as const };
          return yield* orShowAgain(
            Effect.as(
              plans.put(scope, guildId, settings, originOf(visitor.owner), editedIn(fields)),
              seeOther(rolesPath(scope.pid), { guildId, done: "rolesOn" }),
            ),
            (refused) => showPreview(visitor, scope, guildId, fields("seen"), refused),
          );
        }),
      ),
    ),

    form(rolesPath(":pid"), (visitor, fields: Fields) =>
      inGuild(visitor, fields("guildId"), (scope, guildId, show) => {
        const origin = originOf(visitor.owner);
        const see = (done: NoticeName) => seeOther(rolesPath(scope.pid), { guildId, done });

        /** Stores rules that stay paused, or shows what rules that are to be on would change. */
        const save = Effect.fnUntraced(function* (state: PlanState) {
          const typed = typedRoles(fields);
          const settings = settingsOf(typed, state);
          if (!("rules" in settings)) return yield* show({ typed, refused: refusedFor(settings) });
          const { plan } = yield* plans.find(scope, guildId);
          if (state === "on" && changedSettings(plan, { ...plan, ...settings }).length === 0)
            return see("rolesSame");
          const saved =
            state === "on"
              ? Effect.map(plans.previewAll(scope, guildId, settings, editedIn(fields)), () =>
                  seePreview(scope, guildId, fields("seen")),
                )
              : Effect.as(plans.put(scope, guildId, settings, origin, editedIn(fields)), see("rolesPaused"));
          return yield* orShowAgain(saved, (refused) => show({ typed, refused }));
        });

        /** Asks before the bot makes the roles that ranks of a group lack, or makes them. */
        const makeRoles = Effect.fnUntraced(function* (typed: RolesForm, isAsked: boolean) {
          const ranked = yield* plans.group(typed.ranksOf);
          if (!isAsked) return yield* show({ typed, ranked, asksForRoles: true });
          const missing = ranksWithoutRole(ranked, yield* plans.guildRoles(guildId));
          return yield* orShowAgain(
            Effect.flatMap(plans.makeRoles(guildId, missing.slice(0, mostRules)), () =>
              show({ typed, ranked }),
            ),
            (refused) => show({ typed, ranked, refused }),
          );
        });

        /** Shows the ranks of a group, or adds a rule for each of those that have a role. */
        const ranks = Effect.fnUntraced(function* (typed: RolesForm, isAdded: boolean) {
          const ranked = yield* plans.group(typed.ranksOf);
          if (!isAdded) return yield* show({ typed, ranked });
          const chosen = filledRules(typed.rules);
          const added = rulesOfRanks(ranked, yield* plans.guildRoles(guildId), chosen);
          const rules = [...chosen, ...added].slice(0, mostRules);
          return yield* show({ typed: { ...typed, rules, ranksOf: "" } });
        });

        const preview = Effect.fnUntraced(function* (who: string) {
          const chatId = isChatId(who) ? who : yield* findByName(who, visitor);
          const changes = yield* plans.preview(scope, guildId, chatId);
          const isLinked = (yield* links.find(scope, chatId)) !== null;
          return yield* show({ preview: { who, found: { isLinked, changes } } });
        });

        const edited = typedRoles(fields);
        const rules = changedRules(edited.rules, fields("act"));
        if (rules !== null) return show({ typed: { ...edited, rules } });
        switch (fields("act")) {
          case "ranks":
          case "addRanks": {
            const typed = typedRoles(fields);
            const unknown = { name: "ranksOf", reason: say("reason.rule.groupId") };
            return Effect.catchTag(ranks(typed, fields("act") === "addRanks"), "InvalidParameter", () =>
              show({ typed, refused: refusedFor([unknown]) }),
            );
          }
          case "missing":
          case "makeRoles": {
            const typed = typedRoles(fields);
            return Effect.catchTag(makeRoles(typed, fields("act") === "makeRoles"), "InvalidParameter", () =>
              show({
                typed,
                refused: refusedFor([{ name: "ranksOf", reason: say("reason.rule.groupId") }]),
              }),
            );
          }
          case "preview": {
            const who = fields("who").trim();
            const unknown = { name: "who", reason: say("reason.nobody_in_community") };
            return Effect.catchTag(preview(who), ["InvalidParameter", "Forbidden"], () =>
              show({ preview: { who, found: null }, refused: refusedFor([unknown]) }),
            );
          }
          case "linking":
            return orShowAgain(
              Effect.as(
                plans.put(scope, guildId, { rules: [], nickname: null, state: "on" }, origin),
                see("linkingOn"),
              ),
              (refused) => show({ refused }),
            );
          case "sweep":
            return Effect.as(plans.startSweep(scope, guildId), see("sweeping"));
          case "putBack":
            return orShowAgain(
              Effect.as(plans.putNicknamesBack(scope, guildId, origin), see("nicknamesBack")),
              (refused) => show({ refused }),
            );
          case "delete":
            return Effect.as(plans.remove(scope, guildId, origin), see("rolesDeleted"));
          default:
            return save(fields("act") === "on" ? "on" : "paused");
        }
      }),
    ),
  ];
});

const seePreview = (scope: DataScope, guildId: GuildId, seen: string) =>
  seeOther(rolesPreviewPath(scope.pid), { guildId, seen });

/** The version of the plan that the page of a form showed. */
const editedIn = (fields: Fields): string | undefined => fields("seen") || undefined;

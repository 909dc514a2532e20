import { ChatPlatform, GamePlatform, type Pid } from "@accountlink/core";
import { CommunityStore, type Community as Guild, isLinkingOn } from "@accountlink/core/communities";
import { reaches } from "@accountlink/core/keys";
import type { RankedGroup } from "@accountlink/core/platforms";
import { type PlanSettings, planVersion, RolePlans } from "@accountlink/core/roles";
import { Effect, Option } from "effect";
import { makeAccountNames } from "../audit/entry_names.ts";
import { makeCommunities } from "../communities/community.ts";
import type { ManagedGuild } from "../communities/managed_guild.ts";
import type { Refused } from "../look/refused.ts";
import { makeAccountTitle, type OwnerVisitor } from "../owner_pages.ts";
import type { RolePreview } from "./member_preview.ts";
import { nicknamesView } from "./nicknames_section.ts";
import { formOfPlan, type RolesForm } from "./role_form.ts";
import { rolesPage } from "./roles_page.ts";
import { offeredBy } from "./rule_choices.ts";
import { makeThings } from "./rule_sentence.ts";

/** What the page of a role plan shows in addition to the stored plan. */
export interface Shown {
  readonly typed?: RolesForm;
  /** The version of the rules that the typed form edits; empty if unknown. */
  readonly seen?: string;
  readonly preview?: RolePreview;
  readonly ranked?: RankedGroup;
  readonly asksForRoles?: boolean;
  /** Where the owner goes on, see `focusOn`. */
  readonly focus?: string;
  readonly refused?: Refused | null;
}

/**
 * Returns the version of the rules that a form edits, also after it was refused: of the stored rules once its owner has
 * read that they changed.
 *
 * @param seen the version that the form has had so far; empty if unknown
 */
export const seenIn = (seen: string, plan: PlanSettings, refused: Refused | null): string =>
  seen === "" || refused?.conflict === "plan_changed" ? planVersion(plan) : seen;

export type ShowRoles = Effect.Success<typeof makeShowRoles>;

export const makeShowRoles = Effect.gen(function* () {
  const plans = yield* RolePlans;
  const store = yield* CommunityStore;
  const communities = yield* makeCommunities;
  const namesIn = yield* makeAccountNames;
  const titleOf = yield* makeAccountTitle;
  const thingsOf = yield* makeThings;
  const game = yield* GamePlatform;
  const { botInvite, commands } = yield* ChatPlatform;

  /** Finds the other list, or the other account, whose rules for the guild are on. */
  const rivalOf = Effect.fnUntraced(function* (visitor: OwnerVisitor, pid: Pid, home: Guild | null) {
    if (home === null || home.scope.pid === pid || !isLinkingOn(home)) return null;
    const { scope } = home;
    const isOfAccount = scope.account === visitor.owner.account.name;
    if (isOfAccount && reaches(visitor.owner, scope.pid))
      return { list: yield* communities.find(visitor, scope.pid) };
    // Do not tell of the account's other lists, nor the name of an account of strangers.
    const own = isOfAccount
      ? undefined
      : visitor.accounts.find(({ account }) => account.name === scope.account);
    return { account: own === undefined ? null : yield* titleOf(own.account) };
  });

  return Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    guild: ManagedGuild,
    { typed, seen = "", preview, ranked, asksForRoles = false, focus, refused = null }: Shown,
  ) {
    const { community, guildId } = guild;
    const details = yield* plans.find(guild);
    const home = Option.getOrNull(yield* store.findHome(guildId));
    const shown = typed ?? formOfPlan(details.plan);
    const view = {
      ...guild,
      details,
      isTyped: typed !== undefined,
      seen: seenIn(typed === undefined ? "" : seen, details.plan, refused),
      isHome: home?.scope.pid === community.scope.pid,
      roles: yield* plans.guildRoles(guildId),
      things: yield* thingsOf(shown),
      ...(yield* offeredBy(game)),
      names: (yield* namesIn(
        details.status.problems.flatMap(({ chatIds }) => chatIds.map((chatId) => ({ chatId }))),
      )).chats,
      preview: preview ?? null,
      ranked: ranked ?? null,
      asksForRoles,
      invite: botInvite?.(guildId, "roles") ?? null,
      tryUrl: commands?.tryUrl?.(guildId) ?? null,
      rival: yield* rivalOf(visitor, community.scope.pid, home),
      nicknames: yield* nicknamesView(plans, guild),
      taking: yield* plans.countPending(guild, "gave"),
    };
    return { ...rolesPage(view, shown, refused), focus };
  });
});

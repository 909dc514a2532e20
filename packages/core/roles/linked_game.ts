/** What the game platform knows of a linked account, as the rules of a plan ask for it. */
import { Effect, Option } from "effect";
import type { PlatformEffect } from "../errors.ts";
import { PlatformUnavailable } from "../errors.ts";
import type { GameId } from "../ids.ts";
import { featuresOf, GamePlatform, type ItemOwnership } from "../platforms/game_platform.ts";
import {
  type GroupRoles,
  neededGroups,
  neededItems,
  needsAge,
  needsProfile,
  type Source,
  type StoredMember,
} from "./member_changes.ts";
import type { RolePlan } from "./role_plan.ts";
import { itemKey, type LinkedGame } from "./rule_kinds.ts";

/** Which questions about game users are asked, and what became of them. */
export interface Sources {
  /** A source that is not open is not asked. Its answers are unknown. */
  readonly isOpen: (source: Source) => boolean;
  readonly note: (source: Source, isAnswered: boolean) => void;
  /** The keys of items that do not exist. They are not asked for again. */
  readonly missing: Set<Source>;
}

/** Returns the groups of a user, who has none without a profile; null if they are unknown. */
const groupsOf = (profile: LinkedGame["profile"]): LinkedGame["groups"] => {
  if (profile === undefined) return null;
  return profile === null ? [] : profile.groups;
};

const asksAge = (plan: RolePlan, profile: LinkedGame["profile"], { isOpen }: Sources): boolean =>
  Boolean(profile) && needsAge(plan) && isOpen("age");

export const openSources = (): Sources => ({ isOpen: () => true, note: () => {}, missing: new Set() });

/** Makes the question about an account. It is unanswered where an open source does not answer. */
export const makeLinkedGame = Effect.gen(function* () {
  const gamePlatform = yield* GamePlatform;
  const hasItem =
    gamePlatform.hasItem ?? (() => new PlatformUnavailable({ operation: "GamePlatform.hasItem" }));

  return Effect.fnUntraced(function* (
    plan: RolePlan,
    { gameId, proof }: StoredMember & { readonly gameId: GameId },
    known: GroupRoles,
    sources: Sources,
  ) {
    /** Returns undefined if the source is closed or does not answer. */
    const ask = <A>(source: Source, question: PlatformEffect<A>): Effect.Effect<A | undefined> =>
      sources.isOpen(source)
        ? Effect.map(Effect.option(question), (answer) => {
            note(source, Option.isSome(answer));
            return Option.getOrUndefined(answer);
          })
        : Effect.succeed(undefined);
    let isUnanswered = false;
    const note = (source: Source, isAnswered: boolean) => {
      isUnanswered ||= !isAnswered;
      sources.note(source, isAnswered);
    };
    const groupIds = neededGroups(plan);
    const areGroupsKnown = groupIds.every((groupId) => known.has(groupId));
    const areGroupsAsked = !areGroupsKnown && sources.isOpen("groups");
    const found =
      needsProfile(plan) || areGroupsAsked
        ? yield* ask(
            "profile",
            areGroupsAsked
              ? gamePlatform.findProfile(gameId, ["groups"], groupIds)
              : gamePlatform.findProfile(gameId, []),
          )
        : Option.none();
    const profile = found && Option.getOrNull(found);
    if (areGroupsAsked && profile) note("groups", profile.groups !== null);
    const { ages: areAgesTold } = yield* featuresOf(gamePlatform);
    if (asksAge(plan, profile, sources)) note("age", areAgesTold);
    const asked = areGroupsAsked ? groupsOf(profile) : null;
    const groups = areGroupsKnown
      ? groupIds.flatMap((groupId) =>
          (known.get(groupId)?.get(gameId) ?? []).map((role) => ({ id: Number(groupId), role })),
        )
      : asked;
    const items = new Map<Source, ItemOwnership>();
    for (const item of neededItems(plan)) {
      const key = itemKey(item);
      const ownership = sources.missing.has(key) ? "no_item" : yield* ask(key, hasItem(gameId, item));
      if (ownership === "no_item") sources.missing.add(key);
      if (ownership !== undefined) items.set(key, ownership);
    }
    const game: LinkedGame = { proof, profile, areAgesTold, groups, items };
    return { game, isUnanswered };
  });
});

/** Reads all members of the groups that a plan names, in place of a question for each linked member. */
import { Effect, Option, Schedule } from "effect";
import { LinkStore } from "../links/link_store.ts";
import { featuresOf, type GameGroup, GamePlatform, groupPageSize } from "../platforms/mod.ts";
import { type GroupRoles, neededGroups } from "./member_changes.ts";
import type { PlanSettings, RolePlan } from "./role_plan.ts";
import { needsOf } from "./rule_kinds.ts";

/** Larger groups would take too much memory. */
const mostMembers = 200_000;

/** A page is tried for a minute, since the platform may limit requests. */
const untilAnswered = { schedule: Schedule.spaced("10 seconds"), times: 6 };

const none: GroupRoles = new Map();

/**
 * Makes a function that reads all members of the groups that a plan names, if their pages are fewer requests than one
 * for each linked member. Otherwise, or if the platform does not answer, the result is empty, and each linked member is
 * asked for.
 */
export const makeGroupRoles = Effect.gen(function* () {
  const { findGroup, groupMembers } = yield* GamePlatform;
  const links = yield* LinkStore;
  if (findGroup === undefined || groupMembers === undefined) return () => Effect.succeed(none);

  const sizeOf = (groupId: string) =>
    Effect.map(
      findGroup(groupId),
      Option.match({
        onNone: () => 0,
        // A wrong count of 0 would hide all members.
        onSome: ({ memberCount }) => (memberCount !== null && memberCount > 0 ? memberCount : Infinity),
      }),
    );

  const rolesOf = Effect.fnUntraced(function* (
    groupId: string,
    size: number,
    isOver: Effect.Effect<boolean>,
  ) {
    const roles = new Map<string, ReadonlyArray<GameGroup["role"]>>();
    if (size === 0) return [[groupId, roles] as const];
    let cursor: string | null = null;
    // Pages that repeat never end.
    for (let left = 2 * Math.ceil(size / groupPageSize); ; left--) {
      if (left === 0) return [];
      const page: Effect.Success<ReturnType<typeof groupMembers>> = yield* Effect.retry(
        groupMembers(groupId, cursor),
        untilAnswered,
      );
      if (Option.isNone(page)) return [];
      for (const { gameId, role } of page.value.members) {
        roles.set(gameId, [...(roles.get(gameId) ?? []), role]);
      }
      cursor = page.value.next;
      if (cursor === null || (yield* isOver)) break;
    }
    // Whoever is left out of the list gets no role, so a list that lacks more than a few members is no answer.
    return roles.size < 0.9 * size ? [] : [[groupId, roles] as const];
  });

  /**
   * @param members how many members of the guild are compared
   * @param isOver whether the sweep must stop
   */
  return Effect.fnUntraced(
    function* (plan: RolePlan, members: number, isOver: Effect.Effect<boolean>) {
      const groupIds = neededGroups(plan);
      const linked = groupIds.length === 0 ? 0 : Math.min(members, yield* links.countLinks(plan.scope.pid));
      if (linked <= groupIds.length) return none;
      const sizes = yield* Effect.forEach(groupIds, sizeOf);
      const pages = sizes.reduce((sum, size) => sum + Math.ceil(size / groupPageSize), 0);
      if (groupIds.length + pages >= linked || pages * groupPageSize > mostMembers) return none;
      const read = (groupId: string, index: number) => rolesOf(groupId, sizes[index] ?? 0, isOver);
      return new Map((yield* Effect.forEach(groupIds, read)).flat());
    },
    Effect.catchTag("PlatformUnavailable", () => Effect.succeed(none)),
  );
});

/** Makes a function that returns the roles whose rules name a group that does not exist, as far as the platform tells. */
export const makeRolesWithoutGroup = Effect.map(GamePlatform, (game) =>
  Effect.fnUntraced(function* (plan: PlanSettings) {
    const { findGroup } = game;
    if (findGroup === undefined || !(yield* featuresOf(game)).groups) return [];
    const missing = yield* Effect.filter(neededGroups(plan), (groupId) =>
      Effect.orElseSucceed(Effect.map(findGroup(groupId), Option.isNone), () => false),
    );
    return plan.rules
      .filter(({ when }) =>
        needsOf(when).some(({ groupId }) => groupId !== undefined && missing.includes(groupId)),
      )
      .map(({ roleId }) => roleId);
  }),
);

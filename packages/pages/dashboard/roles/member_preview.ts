/** What the rules would change for one member, and what keeps the bot from changing it. */

import type { MemberChanges, PlanDetails, PlanProblem } from "@accountlink/core/roles";
import { type Html, html } from "../../html.ts";
import type { PlatformNames } from "../look/names.ts";
import { type NamedRoles, type Obstacle, remedy, roleName } from "../look/remedies.ts";
import { listOf, say, separated } from "../look/say.ts";

export interface RolePreview {
  readonly who: string;
  /** Null if nobody was found. */
  readonly found: { readonly isLinked: boolean; readonly changes: MemberChanges } | null;
}

interface RulesView extends NamedRoles {
  readonly details: PlanDetails;
}

/** Says what the rules would change, one sentence each. */
export const changesHtml = (
  view: NamedRoles,
  { isLinked, changes }: NonNullable<RolePreview["found"]>,
): Html => {
  const names = (roleIds: ReadonlyArray<string>) =>
    listOf(roleIds.filter((id) => mayChange(view, id)).map((id) => roleName(view, id)));
  const some = (roleIds: ReadonlyArray<string>) => roleIds.some((id) => mayChange(view, id));
  const { add, remove, nickname } = changes;
  const changed = [
    ...(some(add) ? [say("roles.try.gets", { roles: names(add) })] : []),
    ...(some(remove) ? [say("roles.try.loses", { roles: names(remove) })] : []),
    ...(nickname === null ? [] : [nicknameText(nickname)]),
  ];
  const said = [
    ...(changed.length > 0 ? changed : [say(isLinked ? "roles.try.same" : "roles.try.nothing")]),
    ...(changes.isInventoryPrivate ? [say("roles.try.private")] : []),
  ];
  return separated(said, " ");
};

const nicknameText = (nickname: string): Html =>
  nickname === "" ? say("roles.try.unnamed") : say("roles.try.named", { nickname });

const mayChange = ({ roles }: NamedRoles, roleId: string): boolean =>
  roles.some(({ id, assignable }) => id === roleId && assignable);

/** Lists the changes of a previewed member that the bot may not make, with what the owner can do. */
export const obstacles = (
  view: RulesView,
  { chatId, add, remove, nickname }: MemberChanges,
  platforms: PlatformNames,
): Html => {
  const { roles, details } = view;
  const reasonOf = (roleId: string): PlanProblem["reason"] => {
    if (!roles.some(({ id }) => id === roleId)) return "role_missing";
    return roles.some(({ assignable }) => assignable) ? "role_above_bot" : "no_permission";
  };
  const refused = [
    ...[...add, ...remove]
      .filter((roleId) => !mayChange(view, roleId))
      .map((roleId): Obstacle => ({ roleId, reason: reasonOf(roleId) })),
    ...details.status.problems.filter(
      (problem) => problem.chatIds.includes(chatId) && problem.roleId === null && nickname !== null,
    ),
  ];
  return html`${refused.map(
    (problem) =>
      html`<p class="problem">${
        problem.roleId === null
          ? say("roles.obstacle.nickname")
          : say("roles.obstacle.role", { role: roleName(view, problem.roleId) })
      } ${remedy(view, problem, platforms)}</p>`,
  )}`;
};

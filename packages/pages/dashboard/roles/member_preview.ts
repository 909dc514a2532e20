/** What the rules would change for one member, and what keeps the bot from changing it. */

import type { GuildRole } from "@accountlink/core/platforms";
import type { MemberChanges, PlanDetails, PlanProblem } from "@accountlink/core/roles";
import { type Html, html } from "../../html.ts";
import type { PlatformNames } from "../look/names.ts";
import { type Obstacle, remedy, roleName } from "../look/remedies.ts";

export interface RolePreview {
  readonly who: string;
  /** Null if nobody was found. */
  readonly found: { readonly isLinked: boolean; readonly changes: MemberChanges } | null;
}

interface RulesView {
  /** Highest first. */
  readonly roles: ReadonlyArray<GuildRole>;
  readonly details: PlanDetails;
}

export const changesText = (
  view: Pick<RulesView, "roles">,
  { isLinked, changes }: NonNullable<RolePreview["found"]>,
): string => {
  const names = (roleIds: ReadonlyArray<string>) => roleIds.map((id) => roleName(view, id)).join(", ");
  const [add, remove] = [changes.add, changes.remove].map((ids) => ids.filter((id) => mayChange(view, id)));
  const { nickname } = changes;
  const parts = [
    isLinked ? null : "is not linked",
    add?.length ? `gets ${names(add)}` : null,
    remove?.length ? `loses ${names(remove)}` : null,
    nickname === null ? null : nickname === "" ? "loses the nickname" : `is called ${nickname}`,
  ].filter((part) => part !== null);
  if (!isLinked && parts.length === 1) return "is not linked: gets nothing by these rules.";
  const changed = parts.length === 0 ? "is linked, and nothing would change." : `${parts.join(", ")}.`;
  return changes.isInventoryPrivate
    ? `${changed} Their inventory is private, so what they have counts as missing.`
    : changed;
};

const mayChange = ({ roles }: Pick<RulesView, "roles">, roleId: string): boolean =>
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
      (problem) => problem.chatId === chatId && problem.roleId === null && nickname !== null,
    ),
  ];
  return html`${refused.map(
    (problem) =>
      html`<p class="problem">The bot may not change ${
        problem.roleId === null ? "the nickname" : `the role ${roleName(view, problem.roleId)}`
      }. ${remedy(view, problem, platforms)}</p>`,
  )}`;
};

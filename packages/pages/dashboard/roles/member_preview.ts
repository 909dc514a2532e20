/** What the rules would change for one member, and what keeps the bot from changing it. */
import type { GuildRole } from "@accountlink/core/platforms";
import type { MemberChanges, PlanDetails, PlanProblem } from "@accountlink/core/roles";
import { type Html, html } from "../../html.ts";
import type { PlatformNames } from "../page.ts";

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

export const roleName = ({ roles }: Pick<RulesView, "roles">, roleId: string): string =>
  roles.find(({ id }) => id === roleId)?.name ?? `Role ${roleId}`;

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

type Obstacle = Pick<PlanProblem, "reason" | "roleId">;

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
      html`<p class="problem">The bot may not change ${problem.roleId === null ? "the nickname" : `the role ${roleName(view, problem.roleId)}`}. ${remedy(view, problem, platforms)}</p>`,
  )}`;
};

export const remedy = (view: RulesView, { reason, roleId }: Obstacle, platforms: PlatformNames): string => {
  const role = roleId === null ? "this role" : roleName(view, roleId);
  switch (reason) {
    case "role_above_bot":
      return `Move the bot's role above ${role} in the list of roles on ${platforms.chat}.`;
    case "role_missing":
      return "The role was deleted: choose another one, or remove the rule.";
    case "no_permission":
      return `Allow the bot to manage ${roleId === null ? "nicknames" : "roles"} on ${platforms.chat}.`;
    case "member_above_bot":
      return "The bot may not change this member, such as the owner: change them by hand.";
    case "many_would_lose":
      return `More than half of those who have ${role} would have lost it, so nobody was changed and the rules were paused. Save and turn on again: you see who would lose it before anything happens.`;
    case "nickname_refused":
      return `${platforms.chat} refuses the nickname, or what the member has beside it: look at AutoMod's rules for names and tags of members, or change the member by hand. It is tried again at the next comparison.`;
    case "item_unknown":
      return `${platforms.game} has no item with the ID in the rule for ${role}: correct the ID, or remove the rule. Until then, nobody gets the role by it.`;
    case "source_closed":
      return `${platforms.game} does not answer this service about ${roleId === null ? "the nickname" : `the rule for ${role}`}. Nobody gains or loses by it, and it is asked again; nothing is left to do for you. If it stays, tell the operator of this service.`;
    case "members_hidden":
      return `${platforms.chat} does not list the members to the bot. The operator of this service has to turn on the intent "server members" for the bot's application, or apply for it again; then choose "Apply to everyone now".`;
    case "role_refused":
      return `${platforms.chat} refuses the change of the role for this member. It is tried again at the next comparison.`;
  }
};

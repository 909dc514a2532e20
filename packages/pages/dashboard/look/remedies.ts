/** What an owner can do about a change that the bot may not make. */

import type { GuildRole } from "@accountlink/core/platforms";
import type { PlanProblem } from "@accountlink/core/roles";
import type { PlatformNames } from "./names.ts";

interface NamedRoles {
  readonly roles: ReadonlyArray<GuildRole>;
}

export type Obstacle = Pick<PlanProblem, "reason" | "roleId">;

export const roleName = ({ roles }: NamedRoles, roleId: string): string =>
  roles.find(({ id }) => id === roleId)?.name ?? `Role ${roleId}`;

export const remedy = (...of: Parameters<typeof adviceOn>): string => {
  const advice = adviceOn(...of);
  // A platform without a name is called "the chat platform" or "the game platform".
  return advice.charAt(0).toUpperCase() + advice.slice(1);
};

const adviceOn = (view: NamedRoles, { reason, roleId }: Obstacle, platforms: PlatformNames): string => {
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
    case "log_channel_closed":
      return `Let the bot see the channel of the log on ${platforms.chat} and send messages in it, or choose another channel. It is tried again once a day.`;
    case "role_refused":
      return `${platforms.chat} refuses the change of the role for this member. It is tried again at the next comparison.`;
  }
};

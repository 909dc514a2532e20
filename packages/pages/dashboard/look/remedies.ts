/** What an owner can do about a change that the bot may not make. */

import type { GuildRole } from "@accountlink/core/platforms";
import type { PlanProblem } from "@accountlink/core/roles";
import type { Html } from "../../html.ts";
import { platforms } from "./names.ts";
import { capitalised, say } from "./say.ts";

/** The roles of a guild, highest first. */
export interface NamedRoles {
  readonly roles: ReadonlyArray<GuildRole>;
}

export type Obstacle = Pick<PlanProblem, "reason" | "roleId">;

export const roleName = ({ roles }: NamedRoles, roleId: string): string | Html =>
  roles.find(({ id }) => id === roleId)?.name ?? say("roles.unnamed", { id: roleId });

/** The advice may begin with the name of a platform, which is a noun such as "the chat platform" where it has none. */
export const remedy = (...of: Parameters<typeof adviceOn>): Html => capitalised(adviceOn(...of));

const adviceOn = (view: NamedRoles, { reason, roleId }: Obstacle): Html => {
  const { chat, game } = platforms;
  const role = roleName(view, roleId ?? "");
  switch (reason) {
    case "role_above_bot":
      return say("remedy.role_above_bot", { role, platform: chat });
    case "no_permission":
      return say(`remedy.no_permission.${roleId === null ? "nicknames" : "roles"}`, { platform: chat });
    case "role_missing":
    case "member_above_bot":
      return say(`remedy.${reason}`);
    case "many_would_lose":
      return say("remedy.many_would_lose", { role });
    case "item_unknown":
      return say("remedy.item_unknown", { role, platform: game });
    case "source_closed":
      return roleId === null
        ? say("remedy.source_closed.nickname", { platform: game })
        : say("remedy.source_closed.role", { role, platform: game });
    default:
      return say(`remedy.${reason}`, { platform: chat });
  }
};

/** What an owner can do about a change that the bot may not make. */

import type { GuildRole } from "@accountlink/core/platforms";
import type { PlanProblem } from "@accountlink/core/roles";
import type { Html } from "../../html.ts";
import { platforms } from "./names.ts";
import { capitalised, say } from "./say.ts";

export interface NamedRoles {
  readonly roles: ReadonlyArray<GuildRole>;
}

export type Obstacle = Pick<PlanProblem, "reason" | "roleId">;

export const roleName = ({ roles }: NamedRoles, roleId: string): string | Html =>
  roles.find(({ id }) => id === roleId)?.name ?? say("roles.unnamed", { id: roleId });

/** The advice may begin with the name of a platform, which is a noun such as "the chat platform" where it has none. */
export const remedy = (...of: Parameters<typeof adviceOn>): Html => capitalised(adviceOn(...of));

const adviceOn = (view: NamedRoles, { reason, roleId }: Obstacle): Html => {
  const isOfGame = reason === "item_unknown" || reason === "source_closed";
  const values = {
    role: roleName(view, roleId ?? ""),
    platform: isOfGame ? platforms.game : platforms.chat,
  };
  switch (reason) {
    case "no_permission":
      return say(`remedy.no_permission.${roleId === null ? "nicknames" : "roles"}`, values);
    case "source_closed":
      return say(`remedy.source_closed.${roleId === null ? "nickname" : "role"}`, values);
    default:
      return say(`remedy.${reason}`, values);
  }
};

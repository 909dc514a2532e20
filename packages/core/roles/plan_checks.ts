/** Checks of a plan against what its platforms have. */

import { Effect } from "effect";
import { InvalidParameter } from "../errors.ts";
import type { GuildId } from "../ids.ts";
import { type GamePlatform, type GuildRole, knownFeatures, noFeatures } from "../platforms/mod.ts";
import { lackedByPlan } from "./offered_rules.ts";
import type { PlanSettings } from "./role_plan.ts";
import { rolesAskedIn } from "./rule_kinds.ts";

const bypasses = ["bypassRoleIds", "nicknameBypassRoleIds"] as const;

/**
 * Fails for rules and nicknames that need what the game platform does not have; with `PlatformUnavailable` before it has
 * told what it has.
 */
export const requireFeatures = Effect.fnUntraced(function* (
  game: GamePlatform["Service"],
  settings: PlanSettings,
) {
  if (lackedByPlan(settings, noFeatures) === null) return;
  const lacked = lackedByPlan(settings, yield* knownFeatures(game));
  if (lacked !== null) return yield* lacked;
});

/** Fails with `InvalidParameter` for a role that the guild does not have. Asks for the roles only if a plan names some. */
export const requireRolesOf = Effect.fnUntraced(function* <E>(
  guildId: GuildId,
  guildRoles: Effect.Effect<ReadonlyArray<GuildRole>, E>,
  settings: PlanSettings,
) {
  const named = [
    ...settings.rules.flatMap(({ roleId, when }) =>
      [roleId, ...rolesAskedIn(when)].map((each) => ({ name: "rules", roleId: each })),
    ),
    ...bypasses.flatMap((name) => settings[name].map((roleId) => ({ name, roleId }))),
  ];
  if (named.length === 0) return;
  // At the chat platform, the role of everybody has the ID of the guild.
  const everybody = named.find(({ roleId }) => roleId === guildId);
  if (everybody !== undefined) return yield* InvalidParameter.one(everybody.name, { is: "some_role" });
  const known = new Set((yield* guildRoles).map(({ id }) => id));
  const unknown = named.find(({ roleId }) => !known.has(roleId));
  if (unknown === undefined) return;
  return yield* InvalidParameter.one(unknown.name, { is: "guild_role", role: unknown.roleId });
});

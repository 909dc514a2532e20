/**
 * Dashboard routes for the role plans of guilds.
 *
 * @example
 * ```ts
 * const ofPlan = [DashboardRoles.getRoles, DashboardRoles.putRoles, DashboardRoles.deleteRoles];
 * new Set(ofPlan.map(pathTemplate)).size; // 1
 * const work = [DashboardRoles.previewRoles, DashboardRoles.sweepRoles];
 * [...work, DashboardRoles.getRanks].every(({ role }) => role === "admin"); // true
 * ```
 */
import { ChatId, GuildId, Pid } from "@accountlink/core/ids";
import { RoleRule } from "@accountlink/core/roles";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { success } from "../v2/envelope.ts";
import {
  bypassRoleId,
  nicknameGroupId,
  nicknameTemplate,
  pid,
  planGuild,
  planState,
  rankedGroup,
  roleRules,
} from "./parameters.ts";
import { signedIn } from "./signed_in.ts";

const Problem = Schema.Struct({
  chatId: ChatId,
  roleId: Schema.NullOr(Schema.String),
  reason: Schema.Literals(["role_above_bot", "role_missing", "no_permission", "member_above_bot"]),
  at: IsoTime,
});

const Plan = Schema.Struct({
  pid: Pid,
  guildId: GuildId,
  rules: Schema.Array(Schema.toType(RoleRule)),
  nickname: Schema.NullOr(Schema.String),
  nicknameGroupId: Schema.NullOr(Schema.String),
  bypassRoleId: Schema.NullOr(Schema.String),
  status: Schema.Struct({
    state: Schema.Literals(["on", "paused"]),
    pending: Schema.Int,
    sweptAt: Schema.NullOr(IsoTime),
    sweep: Schema.NullOr(Schema.Struct({ done: Schema.Int, total: Schema.Int })),
    problems: Schema.Array(Problem),
  }),
}).annotate({ identifier: "RolePlan" });

const GuildRole = Schema.Struct({ id: Schema.String, name: Schema.String, assignable: Schema.Boolean });

const RoleIds = Schema.Array(Schema.String);

export const getRoles = defineRoute({
  ...signedIn("GET", "admin"),
  id: "getRoles",
  path: "/dashboard/api/roles",
  summary: "The role plan of a guild, and the roles of the guild, highest first",
  parameters: { pid, guildId: planGuild },
  success: success(Schema.Struct({ plan: Plan, guildRoles: Schema.Array(GuildRole) })),
});

export const getRanks = defineRoute({
  ...signedIn("GET", "admin"),
  id: "getRanks",
  path: "/dashboard/api/roles/ranks",
  summary: "The ranks of a group of the game platform, lowest first",
  parameters: { groupId: rankedGroup },
  success: success(
    Schema.Struct({
      group: Schema.Struct({ id: Schema.String, name: Schema.NullOr(Schema.String) }),
      ranks: Schema.Array(Schema.Struct({ rank: Schema.Int, name: Schema.String })),
    }),
  ),
});

export const putRoles = defineRoute({
  ...signedIn("PUT", "admin"),
  id: "putRoles",
  path: "/dashboard/api/roles",
  summary: "Store the role plan of a guild; a changed plan that is on compares all members",
  parameters: {
    pid,
    guildId: planGuild,
    rules: roleRules,
    nickname: nicknameTemplate,
    nicknameGroupId,
    bypassRoleId,
    state: planState,
  },
  success: success(Schema.Struct({ plan: Plan })),
  errors: ["CONFLICT"],
});

export const deleteRoles = defineRoute({
  ...signedIn("DELETE", "admin"),
  id: "deleteRoles",
  path: "/dashboard/api/roles",
  summary: "Delete the role plan of a guild; members keep their roles",
  parameters: { pid, guildId: planGuild },
  source: "body",
  success: success(Schema.Struct({ deleted: Schema.Boolean })),
});

export const previewRoles = defineRoute({
  ...signedIn("POST", "admin"),
  id: "previewRoles",
  path: "/dashboard/api/roles/preview",
  summary: "What the role plan would change for a member",
  parameters: { pid, guildId: planGuild, chatId: chatId("ID of a member of the guild") },
  success: success(Schema.Struct({ add: RoleIds, remove: RoleIds, nickname: Schema.NullOr(Schema.String) })),
});

export const sweepRoles = defineRoute({
  ...signedIn("POST", "admin"),
  id: "sweepRoles",
  path: "/dashboard/api/roles/sweep",
  summary: "Compare all members of a guild with its role plan now",
  parameters: { pid, guildId: planGuild },
  success: success(Schema.Struct({ plan: Plan })),
});

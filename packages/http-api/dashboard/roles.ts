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

export const getRoles = signedIn("admin", "GET", "/roles", {
  id: "getRoles",
  summary: "The role plan of a guild, and the roles of the guild, highest first",
  parameters: { pid, guildId: planGuild },
  data: { plan: Plan, guildRoles: Schema.Array(GuildRole) },
});

export const getRanks = signedIn("admin", "GET", "/roles/ranks", {
  id: "getRanks",
  summary: "The ranks of a group of the game platform, lowest first",
  parameters: { groupId: rankedGroup },
  data: {
    group: Schema.Struct({ id: Schema.String, name: Schema.NullOr(Schema.String) }),
    ranks: Schema.Array(Schema.Struct({ rank: Schema.Int, name: Schema.String })),
  },
});

export const putRoles = signedIn("admin", "PUT", "/roles", {
  id: "putRoles",
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
  data: { plan: Plan },
  errors: ["CONFLICT"],
});

export const deleteRoles = signedIn("admin", "DELETE", "/roles", {
  id: "deleteRoles",
  summary: "Delete the role plan of a guild; members keep their roles",
  parameters: { pid, guildId: planGuild },
  source: "body",
  data: { deleted: Schema.Boolean },
});

export const previewRoles = signedIn("admin", "POST", "/roles/preview", {
  id: "previewRoles",
  summary: "What the role plan would change for a member",
  parameters: { pid, guildId: planGuild, chatId: chatId("ID of a member of the guild") },
  data: { add: RoleIds, remove: RoleIds, nickname: Schema.NullOr(Schema.String) },
});

export const sweepRoles = signedIn("admin", "POST", "/roles/sweep", {
  id: "sweepRoles",
  summary: "Compare all members of a guild with its role plan now",
  parameters: { pid, guildId: planGuild },
  data: { plan: Plan },
});

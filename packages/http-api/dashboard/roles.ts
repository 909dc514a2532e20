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
import { ChatId, GuildId, idRules, Pid } from "@accountlink/core/ids";
import { roleRefusals } from "@accountlink/core/platforms";
import {
  Digits,
  expectedRules,
  expectedTemplate,
  mostRules,
  NicknameTemplate,
  planProblems,
  RoleRule,
  RoleRules,
  unlinkedChoices,
} from "@accountlink/core/roles";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, oneOf, optional, required, withFallback } from "../parameter.ts";
import { orNull, pid, signedIn } from "./signed_in.ts";

/** The parameters that name a plan. */
const plan = {
  pid,
  guildId: required(
    GuildId,
    `expected ${idRules.guildId}`,
    "ID of the guild; for the scope of a guild, its own",
  ),
};

const Problem = Schema.Struct({
  chatId: Schema.NullOr(ChatId),
  roleId: Schema.NullOr(Schema.String),
  reason: Schema.Literals([...roleRefusals, ...planProblems]),
  at: IsoTime,
});

const Plan = Schema.Struct({
  pid: Pid,
  guildId: GuildId,
  rules: Schema.Array(Schema.toType(RoleRule)),
  nickname: Schema.NullOr(Schema.String),
  nicknameGroupId: Schema.NullOr(Schema.String),
  bypassRoleId: Schema.NullOr(Schema.String),
  unlinked: Schema.Literals(unlinkedChoices),
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
  parameters: plan,
  data: { plan: Plan, guildRoles: Schema.Array(GuildRole) },
});

export const getRanks = signedIn("admin", "GET", "/roles/ranks", {
  id: "getRanks",
  summary: "The ranks of a group of the game platform, lowest first",
  parameters: {
    groupId: required(Digits, "expected the ID of a group", "ID of a group of the game platform"),
  },
  data: {
    group: Schema.Struct({ id: Schema.String, name: Schema.NullOr(Schema.String) }),
    ranks: Schema.Array(Schema.Struct({ rank: Schema.Int, name: Schema.String })),
  },
});

export const putRoles = signedIn("admin", "PUT", "/roles", {
  id: "putRoles",
  summary: "Store the role plan of a guild; a changed plan that is on compares all members",
  parameters: {
    ...plan,
    rules: required(
      RoleRules,
      expectedRules,
      `At most ${mostRules} rules, each with a role and the members who get it`,
    ),
    nickname: optional(
      orNull(
        NicknameTemplate,
        expectedTemplate,
        "Nickname of linked members, such as `{game.username}`; null leaves nicknames alone",
      ),
    ),
    nicknameGroupId: optional(
      orNull(
        Digits,
        "expected null or the ID of a group",
        "The group whose rank `{group.role}` names, or null",
      ),
    ),
    bypassRoleId: optional(
      orNull(
        Digits,
        "expected null or the ID of a role",
        "Members with this role are left alone; null for no role",
      ),
    ),
    unlinked: withFallback(
      oneOf(
        unlinkedChoices,
        "Whether members without a link lose what the plan gives (the default), or keep roles and nickname as they are",
      ),
      "remove" as const,
    ),
    state: oneOf(["on", "paused"], "Whether the plan changes members; a paused plan changes nothing"),
  },
  data: { plan: Plan },
  errors: ["CONFLICT"],
});

export const deleteRoles = signedIn("admin", "DELETE", "/roles", {
  id: "deleteRoles",
  summary: "Delete the role plan of a guild; members keep their roles",
  parameters: plan,
  source: "body",
  data: { deleted: Schema.Boolean },
});

export const previewRoles = signedIn("admin", "POST", "/roles/preview", {
  id: "previewRoles",
  summary: "What the role plan would change for a member",
  parameters: { ...plan, chatId: chatId("ID of a member of the guild") },
  data: { add: RoleIds, remove: RoleIds, nickname: Schema.NullOr(Schema.String) },
});

export const sweepRoles = signedIn("admin", "POST", "/roles/sweep", {
  id: "sweepRoles",
  summary: "Compare all members of a guild with its role plan now",
  parameters: plan,
  data: { plan: Plan },
});

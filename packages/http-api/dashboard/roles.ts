/**
 * Dashboard routes for the role plans of guilds.
 *
 * @example
 * ```ts
 * const ofPlan = [DashboardRoles.getRoles, DashboardRoles.putRoles, DashboardRoles.deleteRoles];
 * new Set(ofPlan.map(pathTemplate)).size; // 1
 * const ofPreview = [DashboardRoles.previewRoles, DashboardRoles.getPreview];
 * const work = [...ofPreview, DashboardRoles.sweepRoles, DashboardRoles.getRoleHistory, DashboardRoles.putRolesBack];
 * [...work, DashboardRoles.getRanks].every(({ role }) => role === "admin"); // true
 * ```
 */
import { communitySettings } from "@accountlink/core/communities";
import { ChatId, Digits, GuildId, Pid } from "@accountlink/core/ids";
import { roleRefusals } from "@accountlink/core/platforms";
import {
  changeReasons,
  expectedTaken,
  planProblems,
  planSettings,
  planVersion,
  RoleRule,
  RoleRules,
  roleChangeKinds,
  TakenRoles,
} from "@accountlink/core/roles";
import { schemasOf } from "@accountlink/core/settings";
import { TimestampMillis } from "@accountlink/core/timestamp";
import { Schema, SchemaGetter, Struct } from "effect";
import { IsoTime } from "../iso_time.ts";
import { chatId, optional, required, withFallback } from "../parameter.ts";
import {
  demoGuild,
  guildInScope,
  managed,
  nextNumber,
  pageLimit,
  requiredSettings,
  settingParameters,
  unlessLeftOut,
} from "./signed_in.ts";

const Problem = Schema.Struct({
  chatId: Schema.NullOr(ChatId),
  roleId: Schema.NullOr(Schema.String),
  reason: Schema.Literals([...roleRefusals, ...planProblems]),
  at: IsoTime,
  count: Schema.Int,
  chatIds: Schema.Array(ChatId),
});

const RoleIds = Schema.Array(Schema.String);

/** The settings besides the rules, which an answer and an edited plan have in the same form. */
const simpleSettings = {
  nickname: Schema.NullOr(Schema.String),
  nicknameGroupId: Schema.NullOr(Schema.String),
  bypassRoleIds: RoleIds,
  nicknameBypassRoleIds: RoleIds,
  unlinked: planSettings.unlinked.schema,
};

const Plan = Schema.Struct({
  pid: Pid,
  guildId: GuildId,
  rules: Schema.Array(Schema.toType(RoleRule)),
  ...simpleSettings,
  ...schemasOf(communitySettings),
  status: Schema.Struct({
    state: planSettings.state.schema,
    pending: Schema.Int,
    sweptAt: Schema.NullOr(IsoTime),
    sweep: Schema.NullOr(Schema.Struct({ done: Schema.Int, total: Schema.Int })),
    problems: Schema.Array(Problem),
  }),
}).annotate({ identifier: "RolePlan" });

const GuildRole = Schema.Struct({ id: Schema.String, name: Schema.String, assignable: Schema.Boolean });

export const getRoles = managed("admin", "GET", "/roles", {
  id: "getRoles",
  summary: "The role plan of a guild, and the roles of the guild, highest first",
  parameters: guildInScope,
  example: demoGuild,
  data: { plan: Plan, guildRoles: Schema.Array(GuildRole) },
});

export const getRanks = managed("admin", "GET", "/roles/ranks", {
  id: "getRanks",
  summary: "The ranks of a group of the game platform, lowest first",
  parameters: {
    groupId: required(
      Digits,
      { is: "choice", text: "expected the ID of a group" },
      "ID of a group of the game platform",
    ),
  },
  example: { groupId: "9" },
  data: {
    group: Schema.Struct({ id: Schema.String, name: Schema.NullOr(Schema.String) }),
    ranks: Schema.Array(Schema.Struct({ rank: Schema.Int, name: Schema.String })),
  },
});

const settings = requiredSettings(planSettings);

/** The plan that an editor has read, which becomes its version. */
const EditedPlan = Schema.Struct({
  rules: RoleRules,
  ...simpleSettings,
  status: Schema.Struct({ state: planSettings.state.schema }),
}).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform(({ status, ...plan }) => planVersion({ ...plan, ...status })),
    encode: SchemaGetter.forbidden(() => "A version does not become the plan again"),
  }),
);

const demoRules = [{ roleId: "2", when: { is: "linked" }, nickname: null }];

export const putRoles = managed("admin", "PUT", "/roles", {
  id: "putRoles",
  summary: "Store the role plan of a guild; a changed plan that is on compares all members",
  parameters: {
    ...guildInScope,
    rules: settings.rules,
    nickname: optional(settings.nickname),
    nicknameGroupId: optional(settings.nicknameGroupId),
    bypassRoleIds: withFallback(settings.bypassRoleIds, []),
    nicknameBypassRoleIds: withFallback(settings.nicknameBypassRoleIds, []),
    unlinked: withFallback(settings.unlinked, "remove" as const),
    ...settingParameters(communitySettings),
    take: withFallback(
      required(
        TakenRoles,
        expectedTaken,
        "Roles that the rules name no more, to take from the members who have them by the rules",
      ),
      [],
    ),
    state: settings.state,
    edited: unlessLeftOut(
      required(
        EditedPlan,
        { is: "choice", text: "expected the plan as it was read" },
        "The `plan` that was read and edited: if others have changed it since, nothing is stored " +
          "(`plan_changed`); left out, any plan is replaced",
      ),
    ),
  },
  example: { ...demoGuild, rules: demoRules, nickname: "{game.displayName}", state: "on" },
  data: { plan: Plan },
  refuses: ["guild_has_plan", "plan_changed", "sweeps"],
});

export const deleteRoles = managed("admin", "DELETE", "/roles", {
  id: "deleteRoles",
  summary: "Delete the role plan of a guild; members keep their roles",
  parameters: guildInScope,
  source: "body",
  example: demoGuild,
  data: { deleted: Schema.Boolean },
});

const Changes = { add: RoleIds, remove: RoleIds, nickname: Schema.NullOr(Schema.String) };

const Preview = Schema.Struct({
  state: Schema.Literals(["running", "done", "failed"]),
  done: Schema.Int,
  total: Schema.Int,
  unknown: Schema.Int,
  roles: Schema.Array(Schema.Struct({ roleId: Schema.String, gained: Schema.Int, lost: Schema.Int })),
  /** The roles that the rules name no more, with the number of members who have them by the rules. */
  unnamed: Schema.Array(Schema.Struct({ roleId: Schema.String, members: Schema.Int })),
  nicknames: Schema.Int,
  examples: Schema.Array(Schema.Struct({ chatId: ChatId, ...Changes })),
}).annotate({ identifier: "RolePreview" });

export const previewRoles = managed("admin", "POST", "/roles/preview", {
  id: "previewRoles",
  summary: "What the role plan, or other settings, would change: for a member, or started for all members",
  parameters: {
    ...guildInScope,
    chatId: optional(chatId("ID of a member of the guild; without it, all members are compared")),
    ...settingParameters(Struct.omit(planSettings, ["state"])),
  },
  example: { ...demoGuild, rules: demoRules },
  data: {
    add: Schema.optionalKey(Changes.add),
    remove: Schema.optionalKey(Changes.remove),
    nickname: Schema.optionalKey(Changes.nickname),
    because: Schema.optionalKey(
      Schema.Array(Schema.Struct({ rule: Schema.Int, holds: Schema.NullOr(Schema.Boolean) })),
    ),
    preview: Schema.optionalKey(Preview),
  },
  refuses: ["user_not_in_guild"],
});

export const getPreview = managed("admin", "GET", "/roles/preview", {
  id: "getRolePreview",
  summary: "How far the last preview for all members is, and what it found; null without one",
  parameters: guildInScope,
  example: demoGuild,
  data: { preview: Schema.NullOr(Preview) },
});

export const sweepRoles = managed("admin", "POST", "/roles/sweep", {
  id: "sweepRoles",
  summary: "Compare all members of a guild with its role plan now",
  parameters: guildInScope,
  example: demoGuild,
  data: { plan: Plan },
  refuses: ["sweeps"],
});

export const getRoleHistory = managed("admin", "GET", "/roles/history", {
  id: "getRoleHistory",
  summary: "Which roles the rules gave and took within 30 days, newest first",
  parameters: { ...guildInScope, limit: pageLimit, cursor: nextNumber },
  example: demoGuild,
  data: {
    changes: Schema.Array(
      Schema.Struct({
        chatId: ChatId,
        roleId: Schema.String,
        change: Schema.Literals(roleChangeKinds),
        at: IsoTime,
        because: Schema.Literals(changeReasons),
      }),
    ),
    next: Schema.NullOr(Schema.String),
  },
});

export const putRolesBack = managed("admin", "POST", "/roles/put-back", {
  id: "putRolesBack",
  summary: "Pause the role plan of a guild, and give back the roles that its rules took since a time",
  parameters: {
    ...guildInScope,
    since: {
      ...required(
        TimestampMillis,
        { is: "choice", text: "expected an ISO 8601 timestamp" },
        "The time of the first change to reverse",
      ),
      isText: true,
    },
  },
  example: { ...demoGuild, since: "2026-01-01T12:00:00.000Z" },
  data: {
    pending: Schema.Int.annotate({ description: "How many roles are still to be given back" }),
  },
});

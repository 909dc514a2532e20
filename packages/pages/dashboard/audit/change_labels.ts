/** What the sentences of the audit log call the settings that changed. */
import type { CommunitySettings } from "@accountlink/core/communities";
import type { DashboardKey } from "../look/say.ts";

export const settingLabels = {
  displayName: "audit.setting.displayName",
  supportUrl: "audit.setting.supportUrl",
  doneText: "audit.setting.doneText",
  minGameAgeDays: "audit.setting.minGameAgeDays",
  minChatAgeDays: "audit.setting.minChatAgeDays",
  freshProof: "audit.setting.freshProof",
} as const;
export const keyLabels = {
  name: "audit.setting.displayName",
  access: "audit.setting.access",
  expiresAt: "audit.setting.expiresAt",
} as const;
const communityLabels = {
  logChannelId: "audit.setting.logChannelId",
  remindAfterDays: "audit.setting.remindAfterDays",
} as const satisfies Record<keyof CommunitySettings, DashboardKey>;
export const planLabels = {
  nickname: "audit.setting.nickname",
  nicknameGroupId: "audit.setting.nicknameGroupId",
  // Of entries of releases with one such role.
  bypassRoleId: "audit.setting.bypassRoleId",
  bypassRoleIds: "audit.setting.bypassRoleIds",
  nicknameBypassRoleIds: "audit.setting.nicknameBypassRoleIds",
  unlinked: "audit.setting.unlinked",
  ...communityLabels,
} as const;
export const ruleLabels = {
  rolesAdded: "audit.rules.added",
  rolesRemoved: "audit.rules.removed",
  rolesChanged: "audit.rules.changed",
} as const;

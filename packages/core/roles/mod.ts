/** Role plans, which give the members of a guild roles and nicknames that depend on their links. */
export type { HoldItems } from "../records/records.ts";
export { reversalState } from "./courier/reversals.ts";
export * from "./courier/role_couriers.ts";
export { makeGuildCheck } from "./guild_check.ts";
export { shownNickname } from "./kept_nickname.ts";
export { type LostInGuild, makeLostWithLink } from "./lost_with_link.ts";
export * from "./member_changes.ts";
export * from "./member_joins.ts";
export * from "./member_sync.ts";
export { lackedByPlan, offeredKinds } from "./offered_rules.ts";
export { makeOldestNode } from "./oldest_node.ts";
export * from "./plan_notice_store.ts";
export * from "./plan_preview.ts";
export { makePlanPreviews } from "./plan_previews.ts";
export {
  forgetInPlans,
  noSweep,
  type PlanMember,
  type PlanRecord,
  problemRecord,
  remindersRest,
  roleMembers,
  rolePlans,
  roleProblems,
} from "./plan_records.ts";
export * from "./preview_store.ts";
export * from "./preview_tally.ts";
export type { NicknameBefore } from "./replaced_nicknames.ts";
export * from "./role_changes.ts";
export * from "./role_history_store.ts";
export * from "./role_plan.ts";
export * from "./role_plan_store.ts";
export * from "./role_plans.ts";
export * from "./rule_fields.ts";
export * from "./rule_kinds.ts";
export * from "./rule_text.ts";
export { expectedTaken, type PlanDetails, planJson, StoredPlans } from "./stored_plans.ts";

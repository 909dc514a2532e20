/** Role plans: roles and nicknames of a guild that follow the links. */
export type { HoldItems } from "../couriers/couriers.ts";
export * from "./courier/role_couriers.ts";
export * from "./member_changes.ts";
export * from "./member_sync.ts";
export * from "./nickname_template.ts";
export * from "./role_plan.ts";
export * from "./role_plan_store.ts";
export * from "./role_plans.ts";
export { type PlanDetails, planJson, StoredPlans } from "./stored_plans.ts";

/** Role plans: roles and nicknames of a guild that follow the links. */
export * from "./role_plan.ts";
export * from "./role_plan_store.ts";

/** Accounts own keys and have members. */
export * from "./account_managers.ts";
export * from "./accounts.ts";
export * from "./member.ts";
export * from "./member_store.ts";
export * from "./members.ts";

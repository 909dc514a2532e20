/** Accounts own keys and have members. */
export * from "./accounts.ts";
export * from "./member_store.ts";
export * from "./members.ts";

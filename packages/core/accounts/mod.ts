/** Accounts: who owns keys, and the members who manage them. */
export * from "./accounts.ts";
export * from "./member.ts";
export * from "./member_store.ts";
export * from "./members.ts";

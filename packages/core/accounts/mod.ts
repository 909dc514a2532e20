/** Accounts: the owners of keys, their members, and which keys see members of guilds. */
export * from "./accounts.ts";
export * from "./member.ts";
export * from "./member_disclosure.ts";
export * from "./member_store.ts";
export * from "./members.ts";

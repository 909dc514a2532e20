/** Accounts own keys and have members. The module also decides which keys see nicknames and roles in a guild. */
export * from "./accounts.ts";
export * from "./member.ts";
export * from "./member_disclosure.ts";
export * from "./member_store.ts";
export * from "./members.ts";

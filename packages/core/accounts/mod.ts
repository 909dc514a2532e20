/** Accounts: who owns keys, the members who manage them, and what keys are told. */
export * from "./accounts.ts";
export * from "./member.ts";
export * from "./member_disclosure.ts";
export * from "./member_store.ts";
export * from "./members.ts";

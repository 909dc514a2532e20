/** Accounts: who owns keys, and what their keys are told. */
export * from "./accounts.ts";
export * from "./member_disclosure.ts";

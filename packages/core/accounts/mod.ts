/** Accounts own keys and have members. */
export * from "./accounts.ts";
export { makeOwnersOfKey } from "./managing_keys.ts";
export * from "./member_store.ts";
export * from "./members.ts";

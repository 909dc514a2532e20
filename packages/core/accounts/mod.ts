/** Accounts: who owns keys. */
export * from "./accounts.ts";

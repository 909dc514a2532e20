/** Sign-ins of users to the dashboard and to their own data. */
export * from "./sign_in_store.ts";
export * from "./sign_ins.ts";

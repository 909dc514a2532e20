/** Changes of stored data that a release makes once, in the background. */
export * from "./upgrade_store.ts";

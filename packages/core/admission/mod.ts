/** Who may link in a community. @internal */
export * from "./admission.ts";
export * from "./block_store.ts";

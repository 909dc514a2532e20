/** Fair queueing by account for what accounts share. @internal */
export * from "./resources.ts";
export * from "./turns.ts";

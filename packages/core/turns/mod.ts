/** Fair queueing by account for what accounts share. @internal */
export * from "./turns.ts";

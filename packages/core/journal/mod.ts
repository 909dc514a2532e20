/** The journal: what happened, and what the audit log and the feed say of it. @internal */
export * from "./changes.ts";
export * from "./erasure.ts";
export * from "./journal.ts";
export * from "./numbers.ts";

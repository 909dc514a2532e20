/**
 * A client of v2 without dependencies.
 */
export * from "./client.ts";
export * from "./contract.ts";
export * from "./errors.ts";
export * from "./options.ts";
export type { PollOptions } from "./session_reads.ts";

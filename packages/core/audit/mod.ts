/** The audit log and security events. */
export * from "./audit.ts";
export * from "./entry_search.ts";
export * from "./security_log.ts";

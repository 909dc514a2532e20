/** Verification sessions: their records, their store, their reads and their streams. */

export { redirectProblems } from "./redirect.ts";
export type { ReadSession, SessionEvent } from "./session_events.ts";
export * from "./session_reads.ts";
export * from "./session_settings.ts";
export * from "./session_store.ts";
export { SessionWatch } from "./session_watch.ts";
export * from "./verification_sessions.ts";

/** Verification sessions: record, port, reads and streams. */
export * from "./session_changes.ts";
export type { ReadSession, SessionEvent } from "./session_events.ts";
export * from "./session_reads.ts";
export * from "./session_settings.ts";
export * from "./session_store.ts";
export * from "./session_watch.ts";
export {
  canAdvance,
  isFinal,
  longestClientId,
  type SessionFailure,
  type SessionState,
  type SessionStep,
  type VerificationSession,
} from "./verification_session.ts";
export * from "./verification_sessions.ts";

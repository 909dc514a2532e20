/**
 * Verification sessions: one chat user is asked to prove both accounts, and a client hears what came of it.
 */
import type { ChatId, GameId, GuildId, KeyId, Pid, SessionId } from "./ids.ts";
import type { Millis } from "./link.ts";

/**
 * `pending` until the user starts to prove the chat account, then `opened`. The other four are final: a session that
 * reaches one of them never changes again.
 */
export type SessionState = "pending" | "opened" | "completed" | "failed" | "cancelled" | "expired";

/** Why a session failed. `link_removed`: the link of its user, or all data of its scope, was removed meanwhile. */
export type SessionFailure = "link_removed";

/** One session, as it is stored. */
export interface VerificationSession {
  readonly id: SessionId;
  /** The key that made it, and the only one that can read it. */
  readonly keyId: KeyId;
  readonly pid: Pid;
  /** The client's own name for its user, 1 to 128 characters. */
  readonly clientId: string;
  readonly guildId: GuildId | null;
  /** The only chat user who may finish it, or, once completed, who did; null for anybody. */
  readonly chatId: ChatId | null;
  /** The game user that was linked; null until completed. */
  readonly gameId: GameId | null;
  /** Where the user is sent in the end, or null for a page of ours. */
  readonly redirect: string | null;
  readonly state: SessionState;
  /** Whether completing it changed the stored link. */
  readonly linkChanged: boolean;
  /** The game user that the chat user was linked to before it was completed. */
  readonly previousGameId: GameId | null;
  readonly error: SessionFailure | null;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
  /** When it was completed; null in every other state. */
  readonly completedAt: Millis | null;
  /** Grows by one with every change; 1 for a new session. */
  readonly change: number;
}

/** Whether the state is final. */
export const isFinal = (state: SessionState): boolean => state !== "pending" && state !== "opened";

/** What a session is taken to by other means than its completion or a removal. */
export type SessionStep = "opened" | "cancelled" | "expired";

/** Whether a session can still be completed at a time: it is not final, and its deadline is to come. */
export const isOpenAt = ({ state, expiresAt }: VerificationSession, at: Millis): boolean =>
  !isFinal(state) && at < expiresAt;

/**
 * Whether a session can take the step at a time. `opened` is reached from `pending`, `cancelled` from either, both
 * before the deadline; `expired` from either, at the deadline or after it.
 */
export const canAdvance = (session: VerificationSession, to: SessionStep, at: Millis): boolean => {
  if (to === "expired") return !isFinal(session.state) && at >= session.expiresAt;
  return isOpenAt(session, at) && (to === "cancelled" || session.state === "pending");
};

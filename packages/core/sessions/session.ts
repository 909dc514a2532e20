/** In a verification session, a user proves a chat account and a game account to a client. */
import type { ChatId, GameId, GuildId, KeyId, Pid, SessionId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** `pending` until the user starts to prove the chat account, then `opened`. The other four states are final. */
export type SessionState = "pending" | "opened" | "completed" | "failed" | "cancelled" | "expired";

/** `link_removed`: the user's link or its whole scope was removed. */
export type SessionFailure = "link_removed";

/** The greatest length of a `clientId` in characters. @internal */
export const longestClientId = 128;

export interface VerificationSession {
  readonly id: SessionId;
  /** The key that created the session. No other key can read it. */
  readonly keyId: KeyId;
  readonly pid: Pid;
  /** The client's own name for its user, 1 to `longestClientId` characters. */
  readonly clientId: string;
  readonly guildId: GuildId | null;
  /** The only chat user who may complete the session, or who completed it; null if anyone may complete it. */
  readonly chatId: ChatId | null;
  /** The linked game user; null until completed. */
  readonly gameId: GameId | null;
  /** Where the browser goes after the flow; null for the service's own page. */
  readonly redirect: string | null;
  readonly state: SessionState;
  /** Whether the completion changed the stored link. */
  readonly linkChanged: boolean;
  /** The game user that was linked before the completion. */
  readonly previousGameId: GameId | null;
  readonly error: SessionFailure | null;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
  /** Null unless the state is `completed`. */
  readonly completedAt: Millis | null;
  /** Starts at 1 and increases with every change. */
  readonly change: number;
}

/** @internal */
export const isFinal = (state: SessionState): state is Exclude<SessionState, "pending" | "opened"> =>
  state !== "pending" && state !== "opened";

/** The states that `SessionStore.advance` sets. */
export type SessionStep = "opened" | "cancelled" | "expired";

/** Returns whether a session can be completed: its state is not final, and its deadline has not passed. @internal */
export const isOpenAt = ({ state, expiresAt }: VerificationSession, at: Millis): boolean =>
  !isFinal(state) && at < expiresAt;

/**
 * Returns whether a session can advance. `opened` follows `pending`, and `cancelled` follows `pending` or `opened`,
 * both before the deadline. `expired` follows `pending` or `opened`, from the deadline on. @internal
 */
export const canAdvance = (session: VerificationSession, to: SessionStep, at: Millis): boolean => {
  if (to === "expired") return !isFinal(session.state) && at >= session.expiresAt;
  return isOpenAt(session, at) && (to === "cancelled" || session.state === "pending");
};

/** Returns a copy of the session in the state `to`, which `canAdvance` must allow. @internal */
export const advancedSession = (session: VerificationSession, to: SessionStep): VerificationSession => ({
  ...session,
  state: to,
  change: session.change + 1,
});

import type { ChatId, FlowId, GameId, GuildId, Pid, SessionId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

export type ProofStep = "chat" | "game";

/** The flow of one browser. The browser's cookie identifies the flow. */
export interface VerificationFlow {
  /** Hash of the browser's cookie. */
  readonly id: FlowId;
  /** The session that the flow completes; null if the browser entered with a scope's public id. */
  readonly session: SessionId | null;
  readonly pid: Pid;
  readonly guildId: GuildId | null;
  readonly redirect: string | null;
  readonly chatId: ChatId | null;
  readonly gameId: GameId | null;
  /**
   * The `linkVersion` that the chat user's record had when both accounts were proven, or 0 if there was no record. Null
   * before both accounts are proven. In a voided flow, this is a number while `chatId` is null (see `isVoided`).
   */
  readonly seenVersion: number | null;
  /** The deadline of the flow and its proofs. If the flow has a session, this is the deadline of the session. */
  readonly expiresAt: Millis;
}

/**
 * Returns whether the flow lost its proofs because a link was removed, and no account has been proven since. @internal
 */
export const isVoided = ({ chatId, seenVersion }: VerificationFlow): boolean =>
  chatId === null && seenVersion !== null;

/**
 * A sign-in at a platform, stored until the browser returns and used once. Its secrets are not stored: `Secrets.signIn`
 * derives them from the returned `state`.
 */
export interface SignInChallenge {
  /** Keyed hash of the `state` that the platform returns after the sign-in. */
  readonly stateHash: string;
  readonly flow: FlowId;
  readonly step: ProofStep;
  readonly expiresAt: Millis;
}

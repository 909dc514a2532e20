import type { ChatId, FlowId, GameId, GuildId, Pid, SessionId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

export type ProofStep = "chat" | "game";

/** The flow of one browser, bound to it by a cookie. */
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
   * The `linkVersion` of the chat user's record when both accounts were proven, or 0 if there was no record; null
   * before both are proven. If `chatId` is null, a number here marks a voided flow, see `isVoided`.
   */
  readonly seenVersion: number | null;
  /** The deadline of the flow and its proofs. If the flow has a session, this is the deadline of the session. */
  readonly expiresAt: Millis;
}

/** Returns whether a removal voided the proofs of a flow, and no proof was added since. @internal */
export const isVoided = ({ chatId, seenVersion }: VerificationFlow): boolean =>
  chatId === null && seenVersion !== null;

/**
 * A sign-in at a platform, stored until the browser returns and used once. Its secrets are not stored: `Secrets.signIn`
 * derives them from the returned `state`.
 */
export interface SignInChallenge {
  /** Keyed hash of the `state`. */
  readonly stateHash: string;
  readonly flow: FlowId;
  readonly step: ProofStep;
  readonly expiresAt: Millis;
}

/**
 * Verification flows: one browser on its way through the two proofs, to a link.
 */
import type { ChatId, FlowId, GameId, GuildId, Pid, SessionId } from "./ids.ts";
import type { Millis } from "./link.ts";

/** What a browser proves, one after the other. */
export type ProofStep = "chat" | "game";

/** One browser's way. It is bound to the browser by a cookie, of which only a hash is stored. */
export interface VerificationFlow {
  /** Hash of the browser's cookie. */
  readonly id: FlowId;
  /** The session that it would complete, or null for a flow that was entered by the scope's public id. */
  readonly session: SessionId | null;
  readonly pid: Pid;
  readonly guildId: GuildId | null;
  readonly redirect: string | null;
  /** The chat user that the browser proved to be, or null. */
  readonly chatId: ChatId | null;
  /** The game user that the browser proved to be, or null. */
  readonly gameId: GameId | null;
  /**
   * The `linkVersion` of the chat user's record when both were proven, 0 without a record; null until then. Any number
   * in a flow without a chat user is what a removal left, see `isVoided`.
   */
  readonly seenVersion: number | null;
  /** When the flow and its proofs are gone; that of the session when it has one. */
  readonly expiresAt: Millis;
}

/** Whether a removal has taken the proofs of a flow, and no proof has been given since. */
export const isVoided = ({ chatId, seenVersion }: VerificationFlow): boolean =>
  chatId === null && seenVersion !== null;

/**
 * One sign-in at a platform that was begun, kept until the browser comes back. It is used once. Its secrets are not kept:
 * `Secrets.signIn` makes them of the `state` that comes back.
 */
export interface SignInChallenge {
  /** Keyed hash of the `state`. */
  readonly stateHash: string;
  readonly flow: FlowId;
  readonly step: ProofStep;
  readonly expiresAt: Millis;
}

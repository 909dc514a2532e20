/** Verification flows: a browser proves two accounts and confirms their link. */
import type { ChatId, FlowId, GameId, GuildId, Pid, SessionId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** The proofs, in their order. */
export type ProofStep = "chat" | "game";

/** The flow of one browser. A cookie binds it to the browser, and only its hash is stored. */
export interface VerificationFlow {
  /** Hash of the browser's cookie. */
  readonly id: FlowId;
  /** The session that it completes; null if it was entered with the public id of a scope. */
  readonly session: SessionId | null;
  readonly pid: Pid;
  readonly guildId: GuildId | null;
  readonly redirect: string | null;
  /** The proven chat user, or null. */
  readonly chatId: ChatId | null;
  /** The proven game user, or null. */
  readonly gameId: GameId | null;
  /**
   * The `linkVersion` of the chat user's record when both were proven, 0 without a record; null
   * until then. A number without a chat user marks a voided flow, see `isVoided`.
   */
  readonly seenVersion: number | null;
  /** The deadline of the flow and its proofs; that of the session if there is one. */
  readonly expiresAt: Millis;
}

/** Whether a removal took the proofs of a flow, and none was added since. */
export const isVoided = ({ chatId, seenVersion }: VerificationFlow): boolean =>
  chatId === null && seenVersion !== null;

/**
 * A sign-in at a platform, stored until the browser returns and used once. Its secrets are not
 * stored: `Secrets.signIn` derives them from the `state` that returns.
 */
export interface SignInChallenge {
  /** Keyed hash of the `state`. */
  readonly stateHash: string;
  readonly flow: FlowId;
  readonly step: ProofStep;
  readonly expiresAt: Millis;
}

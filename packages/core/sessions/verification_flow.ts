import type { ChatId, FlowId, GameId, GuildId, Pid, SessionId } from "../ids.ts";
import type { GameProof } from "../links/link_proof.ts";
import type { Millis } from "../timestamp.ts";

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
  /** How the game account was proven; null before. */
  readonly gameProof: GameProof | null;
  /** The game accounts that the chat platform named with the proof of the chat account. */
  readonly connections: ReadonlyArray<GameId>;
  /** The game account that the user named, to prove it by words; null before. */
  readonly named: GameId | null;
  /** The random text from which the words for an account derive. */
  readonly wordSeed: string;
  /**
   * The `linkVersion` that the chat user's record had when both accounts were proven, or 0 if there was no record. Null
   * before both accounts are proven. In a voided flow, this is a number while `chatId` is null (see `isVoided`).
   */
  readonly seenVersion: number | null;
  /** The deadline of the flow and its proofs. If the flow has a session, this is the deadline of the session. */
  readonly expiresAt: Millis;
}

import { Schema } from "effect";
import { ChatId, type FlowId, GameId, GuildId, Pid, SessionId } from "../ids.ts";
import { gameProofs } from "../links/link_proof.ts";
import { type RecordOf, recordType, textAs } from "../records/record_type.ts";

/** @internal */
export const verificationFlows = recordType({
  name: "verification_flows",
  fields: {
    /** Hash of the browser's cookie. */
    id: textAs<FlowId>(),
    /** The session that the flow completes; null if the browser entered with a scope's public id. */
    session: Schema.NullOr(SessionId),
    pid: Pid,
    guildId: Schema.NullOr(GuildId),
    redirect: Schema.NullOr(Schema.String),
    chatId: Schema.NullOr(ChatId),
    gameId: Schema.NullOr(GameId),
    /** How the game account was proven; null before. */
    gameProof: Schema.NullOr(Schema.Literals(gameProofs)),
    /** The game accounts that the chat platform named with the proof of the chat account; null before. */
    connections: Schema.NullOr(Schema.Array(GameId)),
    /** The game account that the user named, to prove it by words; null before. */
    named: Schema.NullOr(GameId),
    /** The random text from which the words for an account derive. */
    wordSeed: Schema.String,
    /**
     * The `linkVersion` that the chat user's record had when both accounts were proven, or 0 if there was no record. Null
     * before both accounts are proven. In a voided flow, this is a number while `chatId` is null (see `isVoided`).
     */
    seenVersion: Schema.NullOr(Schema.Int),
    /** The deadline of the flow and its proofs. If the flow has a session, this is the deadline of the session. */
    expiresAt: Schema.Int,
  },
  columns: { session: "sid", named: "named_game_id" },
  json: ["connections"],
  key: ["id"],
  indexes: {
    /** The flows that proved a chat user. */
    proven: { fields: ["pid", "chatId", "id"], group: 1 },
    byUser: { fields: ["chatId", "id"], group: 1 },
    byEnd: { fields: ["expiresAt", "id"] },
  },
  download: {
    index: "byUser",
    as: "flows",
    fields: ["pid", "gameId", "named", "connections", "expiresAt"],
  },
});

/** The flow of one browser. The browser's cookie identifies the flow. */
export interface VerificationFlow extends RecordOf<typeof verificationFlows> {}

/** Rows of `verification_flows` and `sign_ins`. */
import { ChatId, GameId, GuildId, Pid } from "@accountlink/core";
import type { ProofStep, SignInChallenge, VerificationFlow } from "@accountlink/core/flow";
import { type FlowId, SessionId } from "@accountlink/core/ids";
import { Schema } from "effect";
import { literalsOf, schemaReaderOf } from "../statements/row.ts";

const FlowRow = Schema.Struct({
  id: Schema.String,
  sid: Schema.NullOr(SessionId),
  pid: Pid,
  guild_id: Schema.NullOr(GuildId),
  redirect: Schema.NullOr(Schema.String),
  chat_id: Schema.NullOr(ChatId),
  game_id: Schema.NullOr(GameId),
  seen_version: Schema.NullOr(Schema.Int),
  expires_at: Schema.Int,
});

/** The columns of `readFlows`. */
export const flowColumns = Object.keys(FlowRow.fields).join(", ");

export const rowOfFlow = (flow: VerificationFlow): typeof FlowRow.Type => ({
  id: flow.id,
  sid: flow.session,
  pid: flow.pid,
  guild_id: flow.guildId,
  redirect: flow.redirect,
  chat_id: flow.chatId,
  game_id: flow.gameId,
  seen_version: flow.seenVersion,
  expires_at: flow.expiresAt,
});

export const readFlows = schemaReaderOf(
  "verification_flows",
  FlowRow,
  (row): VerificationFlow => ({
    id: row.id as FlowId,
    session: row.sid,
    pid: row.pid,
    guildId: row.guild_id,
    redirect: row.redirect,
    chatId: row.chat_id,
    gameId: row.game_id,
    seenVersion: row.seen_version,
    expiresAt: row.expires_at,
  }),
);

export const readFlowIds = schemaReaderOf(
  "verification_flows",
  Schema.Struct({ id: FlowRow.fields.id }),
  ({ id }) => id,
);

/** The session of each flow, if any. */
export const readFlowSessions = schemaReaderOf(
  "verification_flows",
  Schema.Struct({ sid: FlowRow.fields.sid }),
  ({ sid }) => sid,
);

const ChallengeRow = Schema.Struct({
  state_hash: Schema.String,
  flow_id: Schema.String,
  step: literalsOf<ProofStep>({ chat: true, game: true }),
  expires_at: Schema.Int,
});

/** The columns of `readChallenges`. */
export const challengeColumns = Object.keys(ChallengeRow.fields).join(", ");

export const readChallenges = schemaReaderOf(
  "sign_ins",
  ChallengeRow,
  (row): SignInChallenge => ({
    stateHash: row.state_hash,
    flow: row.flow_id as FlowId,
    step: row.step,
    expiresAt: row.expires_at,
  }),
);

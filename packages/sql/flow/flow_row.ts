import { ChatId, GameId, GuildId, Pid } from "@accountlink/core";
import type { ProofStep, SignInChallenge, VerificationFlow } from "@accountlink/core/flow";
import { type FlowId, SessionId } from "@accountlink/core/ids";
import { Schema } from "effect";
import { columnReader, literalsOf, tableOf, textAs } from "../statements/row.ts";

const flows = tableOf(
  "verification_flows",
  {
    id: textAs<FlowId>(),
    session: Schema.NullOr(SessionId),
    pid: Pid,
    guildId: Schema.NullOr(GuildId),
    redirect: Schema.NullOr(Schema.String),
    chatId: Schema.NullOr(ChatId),
    gameId: Schema.NullOr(GameId),
    seenVersion: Schema.NullOr(Schema.Int),
    expiresAt: Schema.Int,
  },
  { session: "sid" },
);

export const flowColumns = flows.columns;

export const rowOfFlow = (flow: VerificationFlow) => flows.rowOf(flow);

export const readFlows = flows.reader((flow): VerificationFlow => flow);

export const readFlowIds = columnReader("verification_flows", "id", Schema.String);

export const readFlowSessions = columnReader("verification_flows", "sid", Schema.NullOr(SessionId));

const challenges = tableOf(
  "sign_ins",
  {
    stateHash: Schema.String,
    flow: textAs<FlowId>(),
    step: literalsOf<ProofStep>({ chat: true, game: true }),
    expiresAt: Schema.Int,
  },
  { flow: "flow_id" },
);

export const challengeColumns = challenges.columns;

export const readChallenges = challenges.reader((challenge): SignInChallenge => challenge);

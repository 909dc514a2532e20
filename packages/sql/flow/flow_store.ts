import { ChatId, GameId, GuildId, Pid } from "@accountlink/core";
import {
  FlowStore,
  type Proof,
  type ProofStep,
  type ProvenGame,
  type SignInChallenge,
  type VerificationFlow,
} from "@accountlink/core/flow";
import { type FlowId, SessionId } from "@accountlink/core/ids";
import { textAs } from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Schema } from "effect";
import { columnReader, literalsOf, tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";
import { proofLiteral } from "./session_row.ts";

type ChatProof = Extract<Proof, { readonly step: "chat" }>;

export const layer = storeLayer(FlowStore)((parts) => {
  const { sql, operation, transaction, forReference, forUpdate, usersInUse, wrote } = parts;
  const proveChat = Effect.fnUntraced(function* (
    id: FlowId,
    { chatId, connections = [], game = null }: ChatProof,
    at: Millis,
    nextId: FlowId,
  ) {
    // Wait until running erasures and unlinks of the chat user end: they would miss a proof that is stored meanwhile.
    yield* sql`SELECT locks FROM ${usersInUse(JSON.stringify([chatId]))}`;
    const [version = 0] = yield* readVersions(sql`
      SELECT link_version FROM links
      WHERE pid = (SELECT pid FROM verification_flows WHERE id = ${id}) AND chat_id = ${chatId} ${forUpdate}`);
    const { gameId, gameProof } = game ?? { gameId: null, gameProof: null };
    return yield* readFlows(sql`
      UPDATE verification_flows
      SET id = ${nextId}, chat_id = ${chatId}, game_id = ${gameId}, game_proof = ${gameProof},
        connections = ${connectionsText(connections)}, seen_version = ${game === null ? null : version}
      WHERE id = ${id} AND expires_at > ${at}
      RETURNING ${flowColumns}`);
  });

  const proveGame = Effect.fnUntraced(function* (
    id: FlowId,
    { gameId, gameProof }: ProvenGame,
    at: Millis,
    nextId: FlowId,
  ) {
    const [flow] = yield* readFlows(sql`
      SELECT ${flowColumns} FROM verification_flows
      WHERE id = ${id} AND chat_id IS NOT NULL AND expires_at > ${at} ${forUpdate}`);
    if (flow === undefined) return [];
    // Read the version after the flow is locked, so that the flow's chat user cannot change in between.
    const [version = 0] = yield* readVersions(
      sql`SELECT link_version FROM links WHERE pid = ${flow.pid} AND chat_id = ${flow.chatId}`,
    );
    // One UPDATE sets all columns. A second UPDATE would lock the scope after the flow, and could deadlock with
    // deleteScope.
    return yield* readFlows(sql`
      UPDATE verification_flows
      SET id = ${nextId}, game_id = ${gameId}, game_proof = ${gameProof}, seen_version = ${version}
      WHERE id = ${id}
      RETURNING ${flowColumns}`);
  });

  return {
    begin: operation("begin", function* (flow) {
      assertStorable([flow.id, flow.redirect ?? ""]);
      const row = flows.rowOf({ ...flow, connections: connectionsText(flow.connections) });
      yield* sql`INSERT INTO verification_flows ${sql.insert(row)}`;
    }),

    find: operation("find", (id, at) => {
      const found = sql`SELECT ${flowColumns} FROM verification_flows WHERE id = ${id} AND expires_at > ${at}`;
      return Effect.map(readFlows(found), Arr.head);
    }),

    challenge: operation("challenge", ({ stateHash, flow, step, expiresAt }) =>
      wrote(sql`
        INSERT INTO sign_ins (${challengeColumns})
        SELECT ${stateHash}, id, ${step}, ${expiresAt} FROM verification_flows WHERE id = ${flow} ${forReference}`),
    ),

    takeChallenge: operation("takeChallenge", (id, stateHash, at) => {
      const taken = sql`
        DELETE FROM sign_ins
        WHERE state_hash = ${stateHash} AND flow_id = ${id} AND expires_at > ${at}
          AND EXISTS (SELECT 1 FROM verification_flows WHERE id = ${id} AND expires_at > ${at})
        RETURNING ${challengeColumns}`;
      return Effect.map(readChallenges(taken), Arr.head);
    }),

    prove: transaction("prove", function* (id, proof, at, nextId) {
      assertStorable([nextId]);
      const proven =
        proof.step === "chat"
          ? yield* proveChat(id, proof, at, nextId)
          : yield* proveGame(id, proof.game, at, nextId);
      // ON UPDATE CASCADE has already stored the new flow ID in the challenges of the flow.
      if (proven.length > 0) yield* sql`DELETE FROM sign_ins WHERE flow_id = ${nextId}`;
      return Arr.head(proven);
    }),

    name: operation("name", (id, gameId, at) =>
      wrote(sql`
        UPDATE verification_flows SET named_game_id = ${gameId}
        WHERE id = ${id} AND chat_id IS NOT NULL AND expires_at > ${at}`),
    ),

    end: operation("end", function* (id) {
      yield* sql`DELETE FROM verification_flows WHERE id = ${id}`;
    }),
  };
});

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
    gameProof: Schema.NullOr(proofLiteral),
    connections: Schema.NullOr(Schema.fromJsonString(Schema.Array(GameId))),
    named: Schema.NullOr(GameId),
    wordSeed: Schema.String,
    seenVersion: Schema.NullOr(Schema.Int),
    expiresAt: Schema.Int,
  },
  { session: "sid", named: "named_game_id" },
);

const connectionsText = (connections: ReadonlyArray<GameId>): string | null =>
  connections.length === 0 ? null : JSON.stringify(connections);

export const { columns: flowColumns } = flows;

export const readFlows = flows.reader(
  ({ connections, ...flow }): VerificationFlow => ({ ...flow, connections: connections ?? [] }),
);

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

const { columns: challengeColumns } = challenges;

const readChallenges = challenges.reader((challenge): SignInChallenge => challenge);

const readVersions = columnReader("links", "link_version", Schema.Int);

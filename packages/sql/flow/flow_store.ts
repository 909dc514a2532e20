import type { ChatId, GameId } from "@accountlink/core";
import { FlowStore, type SignInChallenge, type VerificationFlow } from "@accountlink/core/flow";
import type { FlowId } from "@accountlink/core/ids";
import type { Millis } from "@accountlink/core/timestamp";
import { Array as Arr, Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { challengeColumns, flowColumns, readChallenges, readFlows, rowOfFlow } from "./flow_row.ts";

export const layer: Layer.Layer<FlowStore, never, SqlClient.SqlClient> = Layer.effect(
  FlowStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    FlowStore.of({
      ...challengeOperations(sql),
      prove: proveOn(sql),

      begin: (flow) =>
        sql`INSERT INTO verification_flows ${sql.insert(rowOfFlow(flow))}`.pipe(
          Effect.asVoid,
          storeOperation("FlowStore.begin", flow.id, flow.redirect ?? ""),
        ),

      find: (id, at) =>
        sql`SELECT ${flowColumns} FROM verification_flows WHERE id = ${id} AND expires_at > ${at}`.pipe(
          Effect.flatMap(readFlows),
          Effect.map(Arr.head),
          storeOperation("FlowStore.find"),
        ),

      end: (id) =>
        sql`DELETE FROM verification_flows WHERE id = ${id}`.pipe(
          Effect.asVoid,
          storeOperation("FlowStore.end"),
        ),
    }),
  ),
);

const challengeOperations = (
  sql: SqlClient.SqlClient,
): Pick<FlowStore["Service"], "challenge" | "takeChallenge"> => {
  const { forReference, rowsWritten } = dialectOf(sql);

  const insert = ({ stateHash, flow, step, expiresAt }: SignInChallenge) => sql`
    INSERT INTO sign_ins (${challengeColumns})
    SELECT ${stateHash}, id, ${step}, ${expiresAt}
    FROM verification_flows WHERE id = ${flow} ${forReference}`;

  const take = (id: FlowId, stateHash: string, at: Millis) => sql`
    DELETE FROM sign_ins
    WHERE state_hash = ${stateHash} AND flow_id = ${id} AND expires_at > ${at}
      AND EXISTS (SELECT 1 FROM verification_flows WHERE id = ${id} AND expires_at > ${at})
    RETURNING ${challengeColumns}`;

  return {
    challenge: (challenge) =>
      insert(challenge).raw.pipe(
        Effect.map((result) => rowsWritten(result) > 0),
        storeOperation("FlowStore.challenge"),
      ),

    takeChallenge: (id, stateHash, at) =>
      take(id, stateHash, at).pipe(
        Effect.flatMap(readChallenges),
        Effect.map(Arr.head),
        storeOperation("FlowStore.takeChallenge"),
      ),
  };
};

const proveOn = (sql: SqlClient.SqlClient): FlowStore["Service"]["prove"] => {
  const { forUpdate, usersInUse } = dialectOf(sql);

  const proveChat = Effect.fnUntraced(function* (id: FlowId, chatId: ChatId, at: Millis, nextId: FlowId) {
    // Wait until running erasures and unlinks of the chat user end: they would miss a proof that is stored meanwhile.
    yield* sql`SELECT locks FROM ${usersInUse(JSON.stringify([chatId]))}`;
    yield* sql`
      SELECT chat_id FROM links
      WHERE pid = (SELECT pid FROM verification_flows WHERE id = ${id}) AND chat_id = ${chatId} ${forUpdate}`;
    return yield* Effect.flatMap(
      sql`
        UPDATE verification_flows SET id = ${nextId}, chat_id = ${chatId}, game_id = NULL, seen_version = NULL
        WHERE id = ${id} AND expires_at > ${at}
        RETURNING ${flowColumns}`,
      readFlows,
    );
  });

  const proveGame = Effect.fnUntraced(function* (id: FlowId, gameId: GameId, at: Millis, nextId: FlowId) {
    const [flow] = yield* Effect.flatMap(
      sql`
        SELECT ${flowColumns} FROM verification_flows
        WHERE id = ${id} AND chat_id IS NOT NULL AND expires_at > ${at} ${forUpdate}`,
      readFlows,
    );
    if (flow === undefined) return [];
    // Read the version after the flow is locked, so that the flow's chat user cannot change in between.
    const [version = 0] = yield* Effect.flatMap(
      sql`SELECT link_version FROM links WHERE pid = ${flow.pid} AND chat_id = ${flow.chatId}`,
      readVersions,
    );
    // One UPDATE sets all columns. A second UPDATE would lock the scope after the flow, and could deadlock with
    // deleteScope.
    return yield* Effect.flatMap(
      sql`
        UPDATE verification_flows SET id = ${nextId}, game_id = ${gameId}, seen_version = ${version}
        WHERE id = ${id}
        RETURNING ${flowColumns}`,
      readFlows,
    );
  });

  /** Deletes the challenges of flows. ON UPDATE CASCADE has already stored the new flow IDs in these challenges. */
  const forgetChallenges = (flows: ReadonlyArray<VerificationFlow>) =>
    Effect.forEach(flows, ({ id }) => sql`DELETE FROM sign_ins WHERE flow_id = ${id}`);

  return (id, proof, at, nextId) =>
    (proof.step === "chat"
      ? proveChat(id, proof.chatId, at, nextId)
      : proveGame(id, proof.gameId, at, nextId)
    ).pipe(
      Effect.tap(forgetChallenges),
      sql.withTransaction,
      Effect.map(Arr.head),
      storeOperation("FlowStore.prove", nextId),
    );
};

const readVersions = columnReader("links", "link_version", Schema.Int);

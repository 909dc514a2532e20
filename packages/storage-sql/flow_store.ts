/** Verification flows in SQL. */
import {
  type ChatId,
  type FlowId,
  FlowStore,
  type GameId,
  isStorable,
  type Millis,
  type SignInChallenge,
  type VerificationFlow,
} from "@accountlink/core";
import { Effect, Layer, Option, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { challengeColumns, flowColumns, readChallenges, readFlows, rowOfFlow } from "./internal/flow_row.ts";
import { operation } from "./internal/operation.ts";
import { schemaReaderOf } from "./internal/row.ts";

/** Flows on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<FlowStore, never, SqlClient.SqlClient> = Layer.effect(
  FlowStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    FlowStore.of({ ...flowOperations(sql), ...challengeOperations(sql), prove: proveOn(sql) }),
  ),
);

type Operations<Names extends keyof FlowStore["Service"]> = Pick<FlowStore["Service"], Names>;

const flowOperations = (sql: SqlClient.SqlClient): Operations<"begin" | "find" | "end"> => {
  const columns = sql.literal(flowColumns);
  return {
    begin: (flow) =>
      sql`INSERT INTO verification_flows ${sql.insert(rowOfFlow(flow))}`.pipe(
        Effect.asVoid,
        operation("FlowStore.begin", flow.id, flow.redirect ?? ""),
      ),

    find: (id, at) =>
      sql`SELECT ${columns} FROM verification_flows WHERE id = ${id} AND expires_at > ${at}`.pipe(
        Effect.flatMap(readFlows),
        Effect.map(first),
        operation("FlowStore.find"),
      ),

    end: (id) =>
      sql`DELETE FROM verification_flows WHERE id = ${id}`.pipe(Effect.asVoid, operation("FlowStore.end")),
  };
};

const challengeOperations = (sql: SqlClient.SqlClient): Operations<"challenge" | "takeChallenge"> => {
  const { forReference, rowsWritten } = dialectOf(sql);
  const columns = sql.literal(challengeColumns);

  const insert = ({ state, flow, step, codeVerifier, nonce, expiresAt }: SignInChallenge) => sql`
    INSERT INTO sign_in_challenges (${columns})
    SELECT ${state}, id, ${step}, ${codeVerifier}, ${nonce}, ${expiresAt}
    FROM verification_flows WHERE id = ${flow} ${forReference}`;

  const take = (id: FlowId, state: string, at: Millis) => sql`
    DELETE FROM sign_in_challenges
    WHERE state = ${state} AND flow_id = ${id} AND expires_at > ${at}
      AND EXISTS (SELECT 1 FROM verification_flows WHERE id = ${id} AND expires_at > ${at})
    RETURNING ${columns}`;

  return {
    challenge: (challenge) =>
      insert(challenge).raw.pipe(
        Effect.map((result) => rowsWritten(result) > 0),
        operation("FlowStore.challenge", challenge.state, challenge.codeVerifier, challenge.nonce),
      ),

    // A browser brings the state in its URL, where anything can stand.
    takeChallenge: (id, state, at) =>
      isStorable(state)
        ? take(id, state, at).pipe(
            Effect.flatMap(readChallenges),
            Effect.map(first),
            operation("FlowStore.takeChallenge"),
          )
        : Effect.succeedNone,
  };
};

const proveOn = (sql: SqlClient.SqlClient): FlowStore["Service"]["prove"] => {
  const { forUpdate, forReference } = dialectOf(sql);
  const columns = sql.literal(flowColumns);

  const proveChat = Effect.fnUntraced(function* (id: FlowId, chatId: ChatId, at: Millis, nextId: FlowId) {
    // A removal that has begun ends first: what it takes are the proofs of before.
    yield* sql`
      SELECT chat_id FROM links
      WHERE pid = (SELECT pid FROM verification_flows WHERE id = ${id}) AND chat_id = ${chatId} ${forUpdate}`;
    return yield* Effect.flatMap(
      sql`
        UPDATE verification_flows SET id = ${nextId}, chat_id = ${chatId}, game_id = NULL, seen_version = NULL
        WHERE id = ${id} AND expires_at > ${at}
        RETURNING ${columns}`,
      readFlows,
    );
  });

  const proveGame = Effect.fnUntraced(function* (id: FlowId, gameId: GameId, at: Millis, nextId: FlowId) {
    // Before the flow, as in deleteScope. Postgres would lock it when the flow is changed for the second time.
    yield* sql`
      SELECT pid FROM scopes WHERE pid = (SELECT pid FROM verification_flows WHERE id = ${id}) ${forReference}`;
    const flows = yield* Effect.flatMap(
      sql`
        UPDATE verification_flows SET id = ${nextId}, game_id = ${gameId}
        WHERE id = ${id} AND chat_id IS NOT NULL AND expires_at > ${at}
        RETURNING ${columns}`,
      readFlows,
    );
    // Only now that the flow is locked, so that its chat user and the record are seen as they are together.
    return yield* Effect.forEach(flows, (flow) =>
      Effect.map(noteVersion(flow), (seenVersion) => ({ ...flow, seenVersion })),
    );
  });

  const noteVersion = Effect.fnUntraced(function* ({ id, pid, chatId }: VerificationFlow) {
    const [version = 0] = yield* Effect.flatMap(
      sql`SELECT link_version FROM links WHERE pid = ${pid} AND chat_id = ${chatId}`,
      readVersions,
    );
    yield* sql`UPDATE verification_flows SET seen_version = ${version} WHERE id = ${id}`;
    return version;
  });

  /** They have the new id already: it is changed where a row refers to it. */
  const forgetChallenges = (flows: ReadonlyArray<VerificationFlow>) =>
    Effect.forEach(flows, ({ id }) => sql`DELETE FROM sign_in_challenges WHERE flow_id = ${id}`);

  return (id, proof, at, nextId) =>
    (proof.step === "chat"
      ? proveChat(id, proof.chatId, at, nextId)
      : proveGame(id, proof.gameId, at, nextId)
    ).pipe(
      Effect.tap(forgetChallenges),
      sql.withTransaction,
      Effect.map(first),
      operation("FlowStore.prove", nextId),
    );
};

const readVersions = schemaReaderOf(
  "links",
  Schema.Struct({ link_version: Schema.Int }),
  ({ link_version }) => link_version,
);

const first = <A>(rows: ReadonlyArray<A>): Option.Option<A> => Option.fromUndefinedOr(rows[0]);

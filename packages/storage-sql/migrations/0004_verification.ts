/**
 * Verification sessions, flows and sightings.
 *
 * Nodes of the previous release have no sessions, so their removals of links end none. The version
 * of the record grows all the same, and invalidates earlier proofs.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const verification = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  // changed_at is null until the first change after the creation.
  yield* sql`
    CREATE TABLE verification_sessions (
      sid ${text} NOT NULL PRIMARY KEY,
      key_id ${text} NOT NULL REFERENCES keys (id),
      pid ${text} NOT NULL REFERENCES scopes (pid),
      client_id ${text} NOT NULL,
      guild_id ${text},
      chat_id ${text},
      game_id ${text},
      redirect ${text},
      state ${text} NOT NULL,
      link_changed ${integer} NOT NULL,
      previous_game_id ${text},
      error ${text},
      created_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL,
      completed_at ${integer},
      change ${integer} NOT NULL,
      changed_at ${integer}
    ) ${tableByKey}`;
  yield* sql`
    CREATE INDEX verification_sessions_by_user ON verification_sessions (pid, chat_id)
    WHERE state IN ('pending', 'opened')`;
  yield* sql`
    CREATE INDEX verification_sessions_by_deadline ON verification_sessions (expires_at)
    WHERE state IN ('pending', 'opened')`;
  yield* sql`CREATE INDEX verification_sessions_by_age ON verification_sessions (expires_at)`;
  yield* sql`
    CREATE INDEX verification_sessions_by_change ON verification_sessions (changed_at)
    WHERE changed_at IS NOT NULL`;

  // full_at is when the burst of the key is full again.
  yield* sql`
    CREATE TABLE session_bursts (
      key_id ${text} NOT NULL PRIMARY KEY REFERENCES keys (id),
      full_at ${integer} NOT NULL
    ) ${tableByKey}`;

  yield* sql`
    CREATE TABLE verification_flows (
      id ${text} NOT NULL PRIMARY KEY,
      sid ${text},
      pid ${text} NOT NULL REFERENCES scopes (pid),
      guild_id ${text},
      redirect ${text},
      chat_id ${text},
      game_id ${text},
      seen_version ${integer},
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`
    CREATE INDEX verification_flows_by_user ON verification_flows (pid, chat_id) WHERE chat_id IS NOT NULL`;
  yield* sql`CREATE INDEX verification_flows_by_deadline ON verification_flows (expires_at)`;

  yield* sql`
    CREATE TABLE sign_in_challenges (
      state ${text} NOT NULL PRIMARY KEY,
      flow_id ${text} NOT NULL REFERENCES verification_flows (id) ON DELETE CASCADE ON UPDATE CASCADE,
      step ${text} NOT NULL,
      code_verifier ${text} NOT NULL,
      nonce ${text} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX sign_in_challenges_by_flow ON sign_in_challenges (flow_id)`;

  yield* sql`
    CREATE TABLE sightings (
      pid ${text} NOT NULL REFERENCES scopes (pid),
      chat_id ${text} NOT NULL,
      address_hash ${text} NOT NULL,
      sealed_address ${text} NOT NULL,
      address_key_id ${text} NOT NULL,
      seen_at ${integer} NOT NULL,
      PRIMARY KEY (pid, chat_id, address_hash)
    ) ${tableByKey}`;
});

/** For tests: SQL that adds many sessions and flows, and the store operations on them. */
import { ChatId, GameId, KeyId, LinkStore, Pid } from "@accountlink/core";
import { FlowStore } from "@accountlink/core/flow";
import { type FlowId, SessionId } from "@accountlink/core/ids";
import { SessionStore } from "@accountlink/core/sessions";
import { makeFlow, makeSession } from "@accountlink/testing";
import { Effect } from "effect";

/**
 * For each account, adds 200 sessions, ten of them unfinished, 20 flows, and 1,000 users seen at one address. Each flow
 * has a challenge, and proofs of both accounts. If `i` is even, flow `i` has the unfinished session `10 * i`.
 */
export const fillVerifications = (accounts: number) => `
  INSERT INTO verification_sessions
    (sid, key_id, pid, client_id, chat_id, state, link_changed, created_at, expires_at, change, changed_at)
    SELECT 'vs_' || lpad(i::text, 43, '0'), lpad((i / 20)::text, 12, '0'), 'pid_' || lpad((i / 200)::text, 16, '0'),
      '', (1000000 + i * 5)::text, CASE WHEN i % 20 = 0 THEN 'pending' ELSE 'completed' END, 0, 0, 1000000 + i, 1,
      CASE WHEN i % 20 = 0 THEN NULL ELSE 1000000 - i END
    FROM generate_series(1, ${accounts * 200}) AS i;
  INSERT INTO session_bursts (key_id, full_at) SELECT id, 0 FROM keys;
  INSERT INTO verification_flows (id, sid, pid, chat_id, game_id, game_proof, word_seed, seen_version, expires_at)
    SELECT 'flow ' || i, 'vs_' || lpad((10 * i)::text, 43, '0'), 'pid_' || lpad((i / 20)::text, 16, '0'),
      (1000000 + i * 50)::text, '1', 'oauth', 'seed', 1, 1000000 + i
    FROM generate_series(1, ${accounts * 20}) AS i;
  INSERT INTO sign_ins (state_hash, flow_id, step, expires_at)
    SELECT 'state ' || i, 'flow ' || i, 'chat', 1000000 FROM generate_series(1, ${accounts * 20}) AS i;
  INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at, first_seen_at)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), (1000000 + i)::text, 'hash', '', '', i, i
    FROM generate_series(1, ${accounts * 1_000}) AS i;
`;

const pid = Pid.make("pid_0000000000000100");
const keyId = KeyId.make("000000001005");
const sessionIdOf = (index: number) => SessionId.make(`vs_${`${index}`.padStart(43, "0")}`);
const flowOf = (index: number) => `flow ${index}` as FlowId;
const userOf = (flow: number) => ChatId.make(`${1_000_000 + flow * 50}`);
const newId = () => crypto.randomUUID() as FlowId;
const origin = { actor: { type: "operator", id: "test" }, requestId: null, pid, at: 1 } as const;

// Each flow can be completed only once, and each chat user unlinked only once, so each run takes a new flow.
let nextFlow = 2_000;
const takeFlow = () => {
  nextFlow += 2;
  return nextFlow;
};

const scope = { kind: "global", pid, account: "account 100" } as const;
const times = { createdAt: 1, expiresAt: 1_000_000 };

const dieUnless = (holds: boolean) =>
  holds ? Effect.void : Effect.die("Expected an effect of the operation");

export const verificationOperations = {
  "SessionStore.create": SessionStore.use((sessions) =>
    sessions.create({
      session: makeSession({ id: keyId, scope }, times),
      burst: { capacity: 6, refillMs: 1 },
    }),
  ),
  "SessionStore.find": SessionStore.use((sessions) => sessions.find(sessionIdOf(20_001))),
  changedSince: SessionStore.use((sessions) => sessions.changedSince(1_000_000 - 50, null)),
  "changedSince among a few": SessionStore.use((sessions) =>
    sessions
      .changedSince(1, [1, 2, 3].map(sessionIdOf))
      .pipe(Effect.tap(({ length }) => dieUnless(length === 3))),
  ),
  advance: SessionStore.use((sessions) => sessions.advance({ id: sessionIdOf(20_180), to: "opened", at: 1 })),
  complete: SessionStore.use((sessions) =>
    Effect.suspend(() => {
      const flow = takeFlow();
      const proofs = { flow: flowOf(flow), chatId: userOf(flow), gameId: GameId.make("1") };
      const address = { hash: "hash", sealed: "", addressKeyId: "" };
      return sessions.complete({ ...origin, ...proofs, proof: "oauth", address, browser: "browser" });
    }).pipe(Effect.tap(({ _tag }) => dieUnless(_tag === "Completed"))),
  ),
  "removeGame of a chat user with a session": LinkStore.use((links) =>
    Effect.suspend(() => links.removeGame({ ...origin, chatId: userOf(takeFlow()) })).pipe(
      Effect.tap((removed) => dieUnless(removed._tag === "Some" && removed.value.ended.length > 0)),
    ),
  ),
  sweep: SessionStore.use((sessions) =>
    sessions.sweep({ at: 1_000_005, sessionsBefore: 1_000_020, sightingsBefore: 20 }),
  ),
  begin: FlowStore.use((flows) => flows.begin(makeFlow(scope, { expiresAt: 1_000_000 }))),
  "FlowStore.find": FlowStore.use((flows) => flows.find(flowOf(2_001), 1)),
  challenge: FlowStore.use((flows) =>
    Effect.suspend(() =>
      flows.challenge({ stateHash: newId(), flow: flowOf(2_001), step: "chat", expiresAt: 9 }),
    ),
  ),
  takeChallenge: FlowStore.use((flows) => flows.takeChallenge(flowOf(2_003), "state 2003", 1)),
  "prove, the chat account": FlowStore.use((flows) =>
    flows.prove(flowOf(2_005), { step: "chat", chatId: userOf(2_005) }, 1, flowOf(2_005)),
  ),
  "prove, the game account": FlowStore.use((flows) =>
    flows.prove(
      flowOf(2_007),
      { step: "game", game: { gameId: GameId.make("2"), gameProof: "oauth" } },
      1,
      flowOf(2_007),
    ),
  ),
  "FlowStore.end": FlowStore.use((flows) => flows.end(flowOf(2_009))),
};

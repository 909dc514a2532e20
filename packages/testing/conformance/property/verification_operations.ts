/** Operations on sessions and flows, on the same scopes and users as the operations on links. */
import type { FlowStore, Proof, ProvenGame } from "@accountlink/core/flow";
import { type GameProof, gameProofs } from "@accountlink/core/links";
import type { SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import * as FastCheck from "fast-check";
import { makeFlow, makeSession } from "../../mod.ts";
import { ada, bob, chess, dan, poker, type ScopeName } from "../scopes.ts";
import { ownOf } from "./link_operations.ts";
import { at, index, maybe, mostly, type OperationsOf, operation } from "./operation.ts";
import { nth } from "./subjects.ts";

/** The deadline of sessions and flows, which is also the latest time of a command. */
const deadline: Millis = 3;

const { array, boolean, constant, constantFrom, nat, oneof, option, record } = FastCheck;

// Flows often complete before their deadline.
const early = oneof({ weight: 4, arbitrary: constantFrom(0, 1) }, { weight: 1, arbitrary: at });
const chatId = mostly(ada, bob, dan);
const gameId = mostly(chess, poker);
const scope = mostly<ScopeName>("global", "guild");
const keeps = mostly(false, true);
const challenge = nat(1);
const flow = index;
const session = index;
/** Few codes, so that sessions often have the code of another one. */
const code = nat(1);
const gameProof = mostly<GameProof>("oauth", ...gameProofs);
const game: FastCheck.Arbitrary<ProvenGame> = record({ gameId, gameProof });
const connections = array(gameId, { maxLength: 2 });
const proof: FastCheck.Arbitrary<Proof> = oneof(
  record({ step: constant("chat"), chatId, connections, game: option(game, { freq: 2 }) }),
  record({ step: constant("game"), game }),
);

const burst = { capacity: 2, refillMs: 1 };
const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };

export const verificationOperations = {
  "SessionStore.create": operation(
    3,
    {
      session,
      scope,
      chatId: maybe(chatId),
      gameId: maybe(gameId),
      isLimited: boolean(),
      code: maybe(code),
      at: early,
    },
    ({ sessions, sessionIds, sessionKey, hashes, pid }, { isLimited, code: coded, ...input }) => {
      const id = nth(sessionIds, input.session);
      const { chatId: user, gameId: player, at: createdAt } = input;
      const parts = { id, pid, chatId: user, gameId: player, createdAt, expiresAt: deadline };
      const create = sessions.create({
        session: makeSession(sessionKey, parts),
        burst: isLimited ? burst : null,
        ...(coded !== null && { code: { hash: nth(hashes, coded), sealedSid: `sealed ${id}` } }),
      });
      // IDs are random, so the stores need not agree on a session that has the ID and the code of another.
      return Effect.flatMap(sessions.find(id), (found) =>
        Option.isSome(found) ? Effect.die("The ID is taken") : create,
      );
    },
  ),
  "SessionStore.find": operation(1, { session }, ({ sessions, sessionIds }, input) =>
    sessions.find(nth(sessionIds, input.session)),
  ),
  "SessionStore.changedSince": operation(
    1,
    { at, among: option(array(session)) },
    ({ sessions, sessionIds }, { among, ...input }) =>
      Effect.map(
        sessions.changedSince(input.at, among?.map((each) => nth(sessionIds, each)) ?? null),
        (ids) => ownOf(sessionIds, ids),
      ),
  ),
  "SessionStore.advance": operation(
    2,
    { session, to: constantFrom("opened", "cancelled", "expired"), at },
    ({ sessions, sessionIds }, input) =>
      sessions.advance({ id: nth(sessionIds, input.session), to: input.to, at: input.at }),
  ),
  "SessionStore.complete": operation(
    12,
    { scope, flow, chatId, gameId, gameProof, keeps, moves: boolean(), at: early },
    ({ sessions, flowIds, write }, input) =>
      sessions.complete({
        ...write,
        actor: { type: "user", id: input.chatId },
        flow: nth(flowIds, input.flow),
        chatId: input.chatId,
        gameId: input.gameId,
        proof: input.gameProof,
        address,
        browser: "browser",
        keeps: input.keeps,
        moves: input.moves,
      }),
  ),
  // Random sequences sweep only at the end of other commands, because a sweep is not atomic.
  "SessionStore.sweep": operation(
    0,
    { at, sessionsBefore: mostly(0, 3, 4) },
    ({ sessions, sessionIds }, { sessionsBefore, ...input }) =>
      Effect.map(sessions.sweep({ at: input.at, sessionsBefore, sightingsBefore: input.at }), (ids) =>
        ownOf(sessionIds, ids),
      ),
  ),
  "SessionStore.findByCode": operation(2, { code, at }, ({ sessions, hashes }, input) =>
    sessions.findByCode(nth(hashes, input.code), input.at),
  ),

  "FlowStore.begin": operation(
    4,
    { flow, session: option(session, { freq: 3 }), scope },
    ({ flows, flowIds, sessionIds, ...world }, input) => {
      const id = nth(flowIds, input.flow);
      const of = input.session === null ? null : nth(sessionIds, input.session);
      return flows.begin(makeFlow(world.scope, { id, session: of, expiresAt: deadline }));
    },
  ),
  "FlowStore.prove": operation(
    9,
    { flow, proof, at: early, nextFlow: flow },
    ({ flows, flowIds }, { nextFlow, ...input }) =>
      flows.prove(nth(flowIds, input.flow), input.proof, input.at, nth(flowIds, nextFlow)),
  ),
  "FlowStore.name": operation(2, { flow, gameId, at }, ({ flows, flowIds }, input) =>
    flows.name(nth(flowIds, input.flow), input.gameId, input.at),
  ),
  "FlowStore.find": operation(1, { flow, at }, ({ flows, flowIds }, input) =>
    flows.find(nth(flowIds, input.flow), input.at),
  ),
  "FlowStore.end": operation(1, { flow }, ({ flows, flowIds }, input) => flows.end(nth(flowIds, input.flow))),
  "FlowStore.challenge": operation(
    1,
    { flow, challenge, expiresAt: nat(4) },
    ({ flows, flowIds, challenges }, { expiresAt, ...input }) => {
      const stateHash = nth(challenges, input.challenge);
      return flows.challenge({ stateHash, flow: nth(flowIds, input.flow), step: "chat", expiresAt });
    },
  ),
  "FlowStore.takeChallenge": operation(1, { flow, challenge, at }, (world, input) =>
    world.flows.takeChallenge(
      nth(world.flowIds, input.flow),
      nth(world.challenges, input.challenge),
      input.at,
    ),
  ),
} satisfies Omit<OperationsOf<"SessionStore", SessionStore["Service"]>, "SessionStore.recordSightings"> &
  OperationsOf<"FlowStore", FlowStore["Service"]>;

/**
 * The commands of one flow in their usual order, until both accounts are proven or the flow is completed. Independent
 * random commands seldom have this order.
 */
export const verificationWalk = record({
  session: option(session, { freq: 3 }),
  flow,
  scope,
  chatId,
  gameId,
  gameProof,
  isCompleted: boolean(),
  keeps,
  moves: boolean(),
}).map(({ isCompleted, keeps: kept, moves, session: of, ...walk }) => {
  const prove = (proven: Proof) =>
    ({ op: "FlowStore.prove", flow: walk.flow, nextFlow: walk.flow, proof: proven, at: 0 }) as const;
  const created = { ...walk, chatId: null, gameId: null, isLimited: false, code: null, at: 0 };
  return [
    ...(of === null ? [] : [{ ...created, op: "SessionStore.create", session: of } as const]),
    { op: "FlowStore.begin", flow: walk.flow, scope: walk.scope, session: of } as const,
    prove({ step: "chat", chatId: walk.chatId }),
    prove({ step: "game", game: { gameId: walk.gameId, gameProof: walk.gameProof } }),
    ...(isCompleted ? [{ ...walk, op: "SessionStore.complete", keeps: kept, moves, at: 1 } as const] : []),
  ];
});

const op = <Name extends string>(name: Name) => constant(name);

/** Random commands on one flow. They store challenges, take challenges, and add proofs, which delete challenges. */
export const challengeWalk = record({
  flow,
  scope,
  steps: array(
    oneof(
      record({ op: op("FlowStore.challenge"), challenge, expiresAt: nat(4) }),
      record({ op: op("FlowStore.takeChallenge"), challenge, at }),
      record({ op: op("FlowStore.prove"), proof, at: early }),
    ),
    { minLength: 3, maxLength: 8, size: "max" },
  ),
}).map(({ flow: walked, scope: where, steps }) => [
  { op: "FlowStore.begin", flow: walked, scope: where, session: null } as const,
  ...steps.map((step) => ({ nextFlow: walked, ...step, flow: walked })),
]);

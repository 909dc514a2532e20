/** The conformance suite of `FlowStore`. */

import type { StoragePorts } from "@accountlink/core";
import { FlowStore, type Proof, type VerificationFlow } from "@accountlink/core/flow";
import {
  deadline,
  hostileTexts,
  makeFlow,
  uniqueFlowId,
  uniquePid,
  uniqueSessionId,
  uniqueText,
  unstorableTexts,
} from "@accountlink/testing";
import { Effect } from "effect";
import { expectDefect, expectEqual } from "../expect.ts";
import { newVerificationBench } from "../sessions/verification_bench.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";
import { ada, bob, chess, poker } from "../world.ts";

const chatProof: Proof = { step: "chat", chatId: ada };
const gameProof: Proof = { step: "game", gameId: chess };
const unproven = { chatId: null, gameId: null, seenVersion: null };

const proofsOf = (flow: VerificationFlow | null) =>
  flow === null ? null : { chatId: flow.chatId, gameId: flow.gameId, seenVersion: flow.seenVersion };

const flowCases: Cases<StoragePorts> = {
  "begin stores the flow unchanged": Effect.gen(function* () {
    const flows = yield* FlowStore;
    const bench = yield* newVerificationBench;
    for (const redirect of [null, ...hostileTexts]) {
      const flow = makeFlow(bench.key.scope, {
        session: uniqueSessionId(),
        redirect,
        expiresAt: 1_767_225_600_123,
      });
      yield* flows.begin(flow);
      expectEqual(yield* bench.findFlow(flow.id), flow);
    }
    expectEqual(yield* bench.findFlow(uniqueFlowId()), null);
  }),

  "a flow expires exactly at its deadline": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const flow = yield* bench.begin();
    expectEqual((yield* bench.findFlow(flow, deadline - 1))?.id, flow);
    expectEqual(yield* bench.findFlow(flow, deadline), null);
  }),

  "begin of an invalid flow is a defect": Effect.gen(function* () {
    const flows = yield* FlowStore;
    const { key, findFlow } = yield* newVerificationBench;
    const flow = makeFlow(key.scope, { redirect: "first" });
    yield* flows.begin(flow);
    yield* expectDefect(flows.begin({ ...flow, redirect: "second" }));
    expectEqual(yield* findFlow(flow.id), flow);
    yield* expectDefect(flows.begin(makeFlow({ ...key.scope, pid: uniquePid() })));
    for (const redirect of unstorableTexts) {
      yield* expectDefect(flows.begin(makeFlow(key.scope, { redirect })));
    }
  }),

  "end deletes a flow, and no other": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [flow, other] = [yield* bench.begin(), yield* bench.begin()];
    for (const _ of [1, 2]) yield* bench.end(flow);
    expectEqual(yield* bench.findFlow(flow), null);
    expectEqual((yield* bench.findFlow(other))?.id, other);
  }),

  "prove adds one proof after the other, and changes the ID of the flow": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [first, second, third] = [yield* bench.begin(), uniqueFlowId(), uniqueFlowId()];
    const begun = (yield* bench.findFlow(first)) as VerificationFlow;
    const half = { ...begun, id: second, chatId: ada };
    const whole = { ...half, id: third, gameId: chess, seenVersion: 0 };
    expectEqual(yield* bench.prove(first, chatProof, 0, second), half);
    expectEqual(yield* bench.findFlow(first), null);
    expectEqual(yield* bench.findFlow(second), half);
    expectEqual(yield* bench.prove(first, gameProof, 0, third), null);
    expectEqual(yield* bench.prove(second, gameProof, 0, third), whole);
    expectEqual(yield* bench.findFlow(second), null);
    expectEqual(yield* bench.findFlow(third), whole);
  }),

  "a proof of the chat account replaces both proofs": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const flow = yield* bench.proven();
    expectEqual(proofsOf(yield* bench.prove(flow, { step: "chat", chatId: bob })), {
      ...unproven,
      chatId: bob,
    });
    yield* bench.prove(flow, gameProof);
    expectEqual(proofsOf(yield* bench.prove(flow, { step: "game", gameId: poker })), {
      chatId: bob,
      gameId: poker,
      seenVersion: 0,
    });
  }),

  "the second proof stores the version of the record": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const seen = Effect.map(Effect.flatMap(bench.proven(), bench.findFlow), (flow) => flow?.seenVersion);
    expectEqual(yield* seen, 0);
    yield* bench.links.set(ada, poker);
    expectEqual(yield* seen, 1);
    yield* bench.links.remove(ada);
    expectEqual(yield* seen, 2);
    yield* bench.links.set(bob, poker);
    expectEqual(yield* seen, 2);
  }),

  "prove returns none for a flow that is unknown, expired or without a chat account": Effect.gen(
    function* () {
      const bench = yield* newVerificationBench;
      const flow = yield* bench.begin();
      const nextId = uniqueFlowId();
      expectEqual(yield* bench.prove(flow, gameProof, 0, nextId), null);
      expectEqual(yield* bench.prove(uniqueFlowId(), chatProof, 0, nextId), null);
      expectEqual(yield* bench.prove(flow, chatProof, deadline, nextId), null);
      yield* bench.prove(flow, chatProof, deadline - 1);
      expectEqual(yield* bench.prove(flow, gameProof, deadline, nextId), null);
      expectEqual(proofsOf(yield* bench.findFlow(flow)), { ...unproven, chatId: ada });
      expectEqual(yield* bench.findFlow(nextId), null);
    },
  ),

  "prove with a duplicate ID is a defect, and changes nothing": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [flow, other] = [yield* bench.begin(), yield* bench.proven()];
    yield* expectDefect(bench.prove(flow, chatProof, 0, other));
    expectEqual(proofsOf(yield* bench.findFlow(flow)), unproven);
    expectEqual((yield* bench.findFlow(other))?.gameId, chess);
  }),

  "concurrent prove: exactly one succeeds": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const flow = yield* bench.begin();
    const ids = Array.from({ length: 20 }, uniqueFlowId);
    const proofs = yield* Effect.forEach(ids, (id) => bench.prove(flow, chatProof, 0, id), {
      concurrency: "unbounded",
    });
    const winners = ids.filter((_, i) => proofs[i] !== null);
    expectEqual(winners.length, 1);
    const found = yield* Effect.forEach(ids, (id) => bench.findFlow(id));
    expectEqual(
      found.filter((each) => each !== null).map(({ id }) => id),
      winners,
    );
  }),
};

const challengeCases: Cases<StoragePorts> = {
  "takeChallenge returns a challenge once": Effect.gen(function* () {
    const flows = yield* FlowStore;
    const bench = yield* newVerificationBench;
    const flow = yield* bench.begin();
    for (const step of ["chat", "game"] as const) {
      const stateHash = uniqueText();
      const challenge = { stateHash, flow, step, expiresAt: deadline };
      expectEqual(yield* flows.challenge(challenge), true);
      expectEqual(yield* bench.takeChallenge(flow, stateHash), challenge);
      expectEqual(yield* bench.takeChallenge(flow, stateHash), null);
    }
  }),

  "takeChallenge returns a challenge only to its flow": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [flow, other, state] = [yield* bench.begin(), yield* bench.begin(), uniqueText()];
    yield* bench.challenge(flow, state);
    expectEqual(yield* bench.takeChallenge(other, state), null);
    expectEqual(yield* bench.takeChallenge(uniqueFlowId(), state), null);
    expectEqual((yield* bench.takeChallenge(flow, state))?.stateHash, state);
  }),

  "a challenge expires exactly at its deadline or that of its flow": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const flow = yield* bench.begin();
    const [short, long] = [uniqueText(), uniqueText()];
    yield* bench.challenge(flow, short, 100);
    yield* bench.challenge(flow, long, deadline * 2);
    expectEqual(yield* bench.takeChallenge(flow, short, 100), null);
    expectEqual((yield* bench.takeChallenge(flow, short, 99))?.stateHash, short);
    expectEqual(yield* bench.takeChallenge(flow, long, deadline), null);
    expectEqual((yield* bench.takeChallenge(flow, long, deadline - 1))?.stateHash, long);
  }),

  "a proof and the end of a flow delete its challenges": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [flow, other, elsewhere] = [yield* bench.begin(), yield* bench.begin(), uniqueText()];
    yield* bench.challenge(other, elsewhere);
    let current = flow;
    for (const proof of [chatProof, gameProof]) {
      const [state, nextId] = [uniqueText(), uniqueFlowId()];
      yield* bench.challenge(current, state);
      yield* bench.prove(current, proof, 0, nextId);
      expectEqual(yield* bench.takeChallenge(current, state), null);
      expectEqual(yield* bench.takeChallenge(nextId, state), null);
      current = nextId;
    }
    const last = uniqueText();
    yield* bench.challenge(current, last);
    yield* bench.end(current);
    yield* bench.begin(null, { id: current });
    expectEqual(yield* bench.takeChallenge(current, last), null);
    expectEqual((yield* bench.takeChallenge(other, elsewhere))?.flow, other);
  }),

  "a refused proof keeps the challenges": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [flow, state] = [yield* bench.begin(), uniqueText()];
    yield* bench.challenge(flow, state);
    expectEqual(yield* bench.prove(flow, gameProof, 0, uniqueFlowId()), null);
    expectEqual((yield* bench.takeChallenge(flow, state))?.flow, flow);
  }),

  "challenge of an unknown flow stores nothing": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [flow, state] = [yield* bench.begin(), uniqueText()];
    yield* bench.end(flow);
    expectEqual(yield* bench.challenge(flow, state), false);
    expectEqual(yield* bench.challenge(uniqueFlowId(), state), false);
    expectEqual(yield* bench.challenge(yield* bench.begin(), state), true);
  }),

  "a challenge with a duplicate state is a defect": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [flow, other, state] = [yield* bench.begin(), yield* bench.begin(), uniqueText()];
    yield* bench.challenge(flow, state);
    yield* expectDefect(bench.challenge(other, state));
    expectEqual((yield* bench.takeChallenge(flow, state))?.flow, flow);
  }),

  "concurrent takeChallenge: exactly one succeeds": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [flow, state] = [yield* bench.begin(), uniqueText()];
    yield* bench.challenge(flow, state);
    const taken = yield* Effect.forEach(Array.from({ length: 20 }), () => bench.takeChallenge(flow, state), {
      concurrency: "unbounded",
    });
    expectEqual(taken.filter((challenge) => challenge !== null).length, 1);
  }),
};

/**
 * Tests a `FlowStore` with the other storage ports: flows belong to scopes, and store the version
 * of a record. The suite of `SessionStore` tests their completion and the effects of removals.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * flowStoreSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export const flowStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("FlowStore", options, { ...flowCases, ...challengeCases });

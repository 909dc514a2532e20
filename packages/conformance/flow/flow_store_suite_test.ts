import { FlowStore } from "@accountlink/core/flow";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { flowStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

type Store = FlowStore["Service"];

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(flowStoreSuite, StorageMemory.layer, FlowStore, {
  "takeChallenge returns a challenge only to its flow": (store) => {
    const flows = new Map<string, Parameters<Store["takeChallenge"]>[0]>();
    return {
      challenge: (challenge) => {
        flows.set(challenge.stateHash, challenge.flow);
        return store.challenge(challenge);
      },
      takeChallenge: (id, state, at) => store.takeChallenge(flows.get(state) ?? id, state, at),
    };
  },
  "begin stores the flow unchanged": (store) => ({
    begin: (flow) => store.begin({ ...flow, redirect: flow.redirect === "" ? null : flow.redirect }),
  }),
  "a flow expires exactly at its deadline": (store) => ({
    find: (id, at) => store.find(id, at - 1),
  }),
  "begin of an invalid flow is a defect": (store) => ({
    begin: (flow) => Effect.andThen(store.end(flow.id), store.begin(flow)),
  }),
  "end deletes a flow, and no other": () => ({ end: () => Effect.void }),
  "prove adds one proof after the other, and changes the ID of the flow": (store) => ({
    prove: (id, proof, at) => store.prove(id, proof, at, id),
  }),
  "a proof of the chat account replaces both proofs": (store) => ({
    prove: (id, proof, at, nextId) =>
      Effect.gen(function* () {
        const before = Option.getOrNull(yield* store.find(id, at));
        const proven = yield* store.prove(id, proof, at, nextId);
        const gameId = before?.gameId ?? null;
        return gameId === null || proof.step === "game"
          ? proven
          : yield* store.prove(nextId, { step: "game", gameId }, at, nextId);
      }),
  }),
  "the second proof stores the version of the record": (store) => ({
    find: (id, at) =>
      Effect.map(
        store.find(id, at),
        Option.map((flow) => ({ ...flow, seenVersion: flow.seenVersion === null ? null : 0 })),
      ),
  }),
  "prove returns none for a flow that is unknown, expired or without a chat account": (store) => ({
    prove: (id, proof, at, nextId) => store.prove(id, proof, at - 1, nextId),
  }),
  "concurrent prove: exactly one succeeds": (store) => ({
    prove: (id, proof, at, nextId) =>
      Effect.gen(function* () {
        const found = Option.getOrNull(yield* store.find(id, at));
        yield* Effect.yieldNow;
        if (found === null) return Option.none();
        yield* store.end(id);
        yield* store.begin({ ...found, id: nextId });
        return yield* store.prove(nextId, proof, at, nextId);
      }),
  }),
  "takeChallenge returns a challenge once": (store) => ({
    takeChallenge: (id, state, at) =>
      Effect.tap(store.takeChallenge(id, state, at), (taken) =>
        Option.isSome(taken) ? store.challenge(taken.value) : Effect.void,
      ),
  }),
  "a challenge expires exactly at its deadline or that of its flow": (store) => ({
    takeChallenge: (id, state, at) => store.takeChallenge(id, state, at - 1),
  }),
  "a proof and the end of a flow delete its challenges": (store) => {
    const kept: Array<Parameters<Store["challenge"]>[0]> = [];
    return {
      challenge: (challenge) =>
        Effect.andThen(
          Effect.sync(() => kept.push(challenge)),
          store.challenge(challenge),
        ),
      prove: (id, proof, at, nextId) =>
        Effect.tap(store.prove(id, proof, at, nextId), () =>
          Effect.forEach(
            kept.filter(({ flow }) => flow === id),
            (challenge) => store.challenge({ ...challenge, flow: nextId }),
          ),
        ),
    };
  },
  "a refused proof keeps the challenges": (store) => {
    const states = new Map<string, string>();
    return {
      challenge: (challenge) =>
        Effect.andThen(
          Effect.sync(() => states.set(challenge.flow, challenge.stateHash)),
          store.challenge(challenge),
        ),
      prove: (id, proof, at, nextId) =>
        Effect.andThen(
          Effect.ignore(store.takeChallenge(id, states.get(id) ?? "", at)),
          store.prove(id, proof, at, nextId),
        ),
    };
  },
  "challenge of an unknown flow stores nothing": (store) => ({
    challenge: (challenge) => Effect.as(store.challenge(challenge), true),
  }),
  "concurrent takeChallenge: exactly one succeeds": (store) => {
    const kept = new Map<string, Parameters<Store["challenge"]>[0]>();
    return {
      challenge: (challenge) =>
        Effect.andThen(
          Effect.sync(() => kept.set(challenge.stateHash, challenge)),
          store.challenge(challenge),
        ),
      takeChallenge: (id, state, at) =>
        Effect.gen(function* () {
          const found = kept.get(state);
          yield* Effect.yieldNow;
          kept.delete(state);
          const taken = yield* store.takeChallenge(id, state, at);
          return found?.flow === id ? Option.some(found) : taken;
        }),
    };
  },
});

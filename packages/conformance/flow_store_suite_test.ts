import { FlowStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import * as test from "vitest";
import { altered, failingTitles } from "./internal/broken.ts";
import { flowStoreSuite } from "./mod.ts";

type Store = FlowStore["Service"];

const memory = StorageMemory.layer;

/** What an adapter may get wrong, by the case that must find it. */
const mistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "begin stores the flow as it is": (store) => ({
    begin: (flow) => store.begin({ ...flow, redirect: flow.redirect === "" ? null : flow.redirect }),
  }),
  "a flow is found until its deadline and not at it": (store) => ({
    find: (id, at) => store.find(id, at - 1),
  }),
  "what cannot begin is a defect": (store) => ({
    begin: (flow) => Effect.andThen(store.end(flow.id), store.begin(flow)),
  }),
  "end removes a flow, and no other": () => ({ end: () => Effect.void }),
  "prove adds one proof after the other, and goes on under a new id": (store) => ({
    prove: (id, proof, at) => store.prove(id, proof, at, id),
  }),
  "a proof of the chat account takes the place of both": (store) => ({
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
  "the second proof notes the version of the record": (store) => ({
    find: (id, at) =>
      Effect.map(
        store.find(id, at),
        Option.map((flow) => ({ ...flow, seenVersion: flow.seenVersion === null ? null : 0 })),
      ),
  }),
  "prove gives none for a flow that is gone, over or without its chat account": (store) => ({
    prove: (id, proof, at, nextId) => store.prove(id, proof, at - 1, nextId),
  }),
  "racing prove: exactly one goes on": (store) => ({
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
  "a challenge is handed out once, as it is": (store) => ({
    takeChallenge: (id, state, at) =>
      Effect.tap(store.takeChallenge(id, state, at), (taken) =>
        Option.isSome(taken) ? store.challenge(taken.value) : Effect.void,
      ),
  }),
  "a challenge lasts until its deadline or that of its flow, and not at it": (store) => ({
    takeChallenge: (id, state, at) => store.takeChallenge(id, state, at - 1),
  }),
  "no challenge outlives a proof or its flow": (store) => {
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
  "a challenge outlives a proof that is not taken": (store) => {
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
  "a flow that is gone takes no challenge": (store) => ({
    challenge: (challenge) => Effect.as(store.challenge(challenge), true),
  }),
  "racing takeChallenge: exactly one gets it": (store) => {
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
};

test.describe("flowStoreSuite", () => {
  test.it("finds nothing wrong with memory", async () => {
    test
      .expect(await failingTitles((api) => flowStoreSuite({ name: "", layer: memory, test: api })))
      .toEqual([]);
  });

  test.it.each(Object.entries(mistakes))("finds what breaks: %s", async (title, mistake) => {
    const layer = altered(memory, FlowStore, mistake);
    test
      .expect(await failingTitles((api) => flowStoreSuite({ name: "", layer, test: api })))
      .toContain(title);
  });
});

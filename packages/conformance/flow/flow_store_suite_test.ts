import { FlowStore } from "@accountlink/core/flow";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { flowStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

type Store = FlowStore["Service"];

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(flowStoreSuite, StorageMemory.layer, FlowStore, {
  "begin stores the flow unchanged": (store) => ({
    begin: (flow) => store.begin({ ...flow, redirect: flow.redirect === "" ? null : flow.redirect }),
  }),
  "begin of an invalid flow is a defect": (store) => ({
    begin: (flow) => Effect.andThen(store.end(flow.id), store.begin(flow)),
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

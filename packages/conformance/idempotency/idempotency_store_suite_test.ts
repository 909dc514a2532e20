import { IdempotencyStore } from "@accountlink/core/idempotency";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { idempotencyStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(idempotencyStoreSuite, StorageMemory.layer, IdempotencyStore, {
  "a claim holds its key until it ends": (store) => ({
    claim: (claim) => store.claim({ ...claim, at: claim.at - 1 }),
  }),
  "extend moves the end of a claim, for its request alone": () => ({ extend: () => Effect.void }),
  "release ends a claim at once, for its request alone": () => ({ release: () => Effect.void }),
  "racing claims: one request gets the key": (store) => ({
    claim: (claim) => Effect.andThen(Effect.yieldNow, store.claim({ ...claim, id: claim.requestId })),
  }),
  "sweep deletes what has ended, and nothing else": (store) => ({ sweep: (at) => store.sweep(at + 1) }),
  "commit keeps the answer until it ends": (store) => ({
    commit: (claim, write) =>
      Effect.map(
        Effect.tap(write, () => store.release(claim)),
        ([outcome]) => Option.some(outcome),
      ),
  }),
  "a write that fails keeps no answer, and leaves the claim": (store) => ({
    commit: (claim, write) =>
      Effect.onError(store.commit(claim, write), () => Effect.ignore(store.release(claim))),
  }),
  "of two requests whose claims followed each other, the later one commits": (store) => ({
    commit: (claim, write) =>
      Effect.flatMap(write, (answered) => store.commit(claim, Effect.succeed(answered))),
  }),
  "commit of setGame: the write and its answer are stored, once": (store) => ({
    commit: (claim, write) =>
      Effect.flatMap(store.commit(claim, write), (committed) =>
        Option.isSome(committed)
          ? Effect.succeed(committed)
          : Effect.map(write, ([outcome]) => Option.some(outcome)),
      ),
  }),
  "commit of createSession: nothing is stored without the key": (store) => ({
    commit: (claim, write) => Effect.tap(store.commit(claim, write), () => Effect.exit(write)),
  }),
});

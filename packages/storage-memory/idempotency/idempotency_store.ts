/** `IdempotencyStore` in memory. */
import {
  type Claim,
  type EarlierRequest,
  IdempotencyStore,
  type KeptWrite,
  type NewClaim,
} from "@accountlink/core/idempotency";
import { Effect, Layer, Option } from "effect";
import { type IdempotentEntry, type Memory, State } from "../state.ts";

export const layer: Layer.Layer<IdempotencyStore, never, State> = Layer.effect(
  IdempotencyStore,
  Effect.map(State, (memory) =>
    IdempotencyStore.of({
      claim: (write) => Effect.sync(() => claim(memory, write)),

      extend: (held, endsAt) =>
        Effect.sync(() => {
          const entry = heldBy(memory, held);
          if (entry !== undefined) memory.idempotent.set(held.id, { ...entry, endsAt });
        }),

      commit: (held, write) => Effect.uninterruptible(commit(memory, held, write)),

      release: (held) =>
        Effect.sync(() => {
          if (heldBy(memory, held) !== undefined) memory.idempotent.delete(held.id);
        }),

      sweep: (at) =>
        Effect.sync(() => {
          for (const { id, endsAt } of memory.idempotent.values()) {
            if (endsAt <= at) memory.idempotent.delete(id);
          }
        }),
    }),
  ),
);

/** The claim of a request that has no answer. */
const heldBy = (memory: Memory, { id, requestId }: Claim): IdempotentEntry | undefined => {
  const entry = memory.idempotent.get(id);
  return entry?.requestId === requestId && entry.kept === null ? entry : undefined;
};

const claim = (memory: Memory, { at, ...claimed }: NewClaim): Option.Option<EarlierRequest> => {
  const entry = memory.idempotent.get(claimed.id);
  if (entry !== undefined && at < entry.endsAt) {
    return Option.some({ fingerprint: entry.fingerprint, answer: entry.kept?.answer ?? null });
  }
  memory.idempotent.set(claimed.id, { ...claimed, kept: null });
  return Option.none();
};

const commit = Effect.fnUntraced(function* <O, E>(
  memory: Memory,
  held: Claim,
  { write, answerOf }: KeptWrite<O, E>,
) {
  const entry = heldBy(memory, held);
  if (entry === undefined) return Option.none<O>();
  // No other request takes the key over between the write and its answer.
  memory.idempotent.set(held.id, { ...entry, endsAt: Number.POSITIVE_INFINITY });
  const outcome = yield* Effect.onError(write, () =>
    Effect.sync(() => memory.idempotent.set(held.id, entry)),
  );
  const kept = yield* answerOf(outcome);
  memory.idempotent.set(held.id, { ...entry, kept, endsAt: kept.endsAt });
  return Option.some(outcome);
});

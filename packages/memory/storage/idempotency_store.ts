import {
  type Claim,
  type EarlierRequest,
  IdempotencyStore,
  type KeptAnswer,
  type NewClaim,
} from "@accountlink/core/idempotency";
import { Effect, Layer, Option } from "effect";
import { type IdempotentEntry, type Memory, State } from "./state/state.ts";

export const layer: Layer.Layer<IdempotencyStore, never, State> = Layer.effect(
  IdempotencyStore,
  Effect.map(State, (memory) =>
    IdempotencyStore.of({
      claim: (write) => Effect.sync(() => claim(memory, write)),

      find: (id) => Effect.sync(() => Option.map(Option.fromUndefinedOr(memory.idempotent.get(id)), earlier)),

      extend: (held, heldUntil) => Effect.sync(() => change(memory, held, { heldUntil })),

      commit: (held, write) =>
        Effect.uninterruptible(memory.committing.withPermits(1)(commit(memory, held, write))),

      release: (held) => Effect.sync(() => change(memory, held, { heldUntil: 0, requestId: "" })),

      sweep: (at) =>
        Effect.sync(() => {
          for (const { id, endsAt } of memory.idempotent.values()) {
            if (endsAt <= at) memory.idempotent.delete(id);
          }
        }),
    }),
  ),
);

/** The entry of a request that still holds its claim and has no answer yet. */
const heldBy = (memory: Memory, { id, requestId }: Claim): IdempotentEntry | undefined => {
  const entry = memory.idempotent.get(id);
  return entry?.requestId === requestId && entry.answer === null ? entry : undefined;
};

const change = (memory: Memory, held: Claim, parts: Partial<IdempotentEntry>): void => {
  const entry = heldBy(memory, held);
  if (entry !== undefined) memory.idempotent.set(held.id, { ...entry, ...parts });
};

const earlier = ({ fingerprint, answer, isErased }: IdempotentEntry): EarlierRequest => ({
  fingerprint,
  answer,
  isErased,
});

const claim = (memory: Memory, { at, ...claimed }: NewClaim): Option.Option<EarlierRequest> => {
  const entry = memory.idempotent.get(claimed.id);
  if (entry !== undefined && at < (entry.heldUntil ?? entry.endsAt)) return Option.some(earlier(entry));
  memory.idempotent.set(claimed.id, { ...claimed, answer: null, isErased: false });
  return Option.none();
};

const commit = Effect.fnUntraced(function* <O, E>(
  memory: Memory,
  held: Claim,
  write: Effect.Effect<readonly [O, KeptAnswer], E>,
) {
  const entry = heldBy(memory, held);
  if (entry === undefined) return Option.none<O>();
  // Hold the key without an end time, so that no other request takes it over before the answer is stored.
  memory.idempotent.set(held.id, { ...entry, heldUntil: Number.POSITIVE_INFINITY });
  const [outcome, kept] = yield* Effect.onError(write, () =>
    Effect.sync(() => memory.idempotent.set(held.id, entry)),
  );
  memory.idempotent.set(held.id, { ...entry, ...kept, heldUntil: null });
  return Option.some(outcome);
});

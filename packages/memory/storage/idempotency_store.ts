import { IdempotencyStore, type IdempotentWrite, type KeptAnswer } from "@accountlink/core/idempotency";
import { Effect, Layer, Option } from "effect";
import { type Memory, State } from "./state.ts";

export const layer: Layer.Layer<IdempotencyStore, never, State> = Layer.effect(
  IdempotencyStore,
  Effect.map(State, (memory) =>
    IdempotencyStore.of({
      commit: (request, write) =>
        Effect.uninterruptible(memory.committing.withPermits(1)(commit(memory, request, write))),

      find: (id) => Effect.sync(() => Option.fromUndefinedOr(memory.idempotent.get(id))),

      sweep: (at) =>
        Effect.sync(() => {
          for (const [id, { endsAt }] of memory.idempotent) if (endsAt <= at) memory.idempotent.delete(id);
        }),
    }),
  ),
);

const commit = Effect.fnUntraced(function* <O, E>(
  memory: Memory,
  { id, at, ...request }: IdempotentWrite,
  write: Effect.Effect<readonly [O, KeptAnswer], E>,
) {
  const earlier = memory.idempotent.get(id);
  if (earlier !== undefined && at < earlier.endsAt) return Option.none<O>();
  const [outcome, { answer, chatIds }] = yield* write;
  const named = [...request.chatIds, ...chatIds];
  memory.idempotent.set(id, { ...request, chatIds: named, answer, isErased: false });
  return Option.some(outcome);
});

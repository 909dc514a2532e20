import { IdempotencyStore } from "@accountlink/core/idempotency";
import { Effect, Layer, Option } from "effect";
import { keyedWrite, State } from "./state.ts";

export const layer: Layer.Layer<IdempotencyStore, never, State> = Layer.effect(
  IdempotencyStore,
  Effect.map(State, (memory) => {
    const keep = keyedWrite(memory, () => {});
    return IdempotencyStore.of({
      keep: (request, answer) => keep({ once: { ...request, answerOf: () => Effect.succeed(answer) } }),

      find: (id) => Effect.sync(() => Option.fromUndefinedOr(memory.idempotent.get(id))),

      sweep: (at) =>
        Effect.sync(() => {
          for (const [id, { endsAt }] of memory.idempotent) if (endsAt <= at) memory.idempotent.delete(id);
        }),
    });
  }),
);

import { RootKeyStore } from "@accountlink/core/secrets";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Layer } from "effect";
import { State } from "./state/state.ts";

export const layer: Layer.Layer<RootKeyStore, never, State> = Layer.effect(
  RootKeyStore,
  Effect.map(State, (memory) =>
    RootKeyStore.of({
      adopt: (wrapped) =>
        Effect.sync(() => {
          assertStorable([wrapped]);
          memory.rootKey ??= wrapped;
          return memory.rootKey;
        }),
      replace: (expected, next) =>
        Effect.sync(() => {
          assertStorable([expected, next]);
          if (memory.rootKey !== expected) return false;
          memory.rootKey = next;
          return true;
        }),
    }),
  ),
);

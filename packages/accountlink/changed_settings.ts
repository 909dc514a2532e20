import { type Context, Effect, Layer } from "effect";

/** Replaces some of the settings that the program around this service has, or else of the defaults. */
export const changedSettings = <A extends object>(settings: Context.Reference<A>, changes: Partial<A>) =>
  Layer.effect(
    settings,
    Effect.map(settings, (usual) => ({ ...usual, ...changes })),
  );

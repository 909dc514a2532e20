import { Context, Effect, Layer, type Scope } from "effect";
import type { KeyId } from "../ids.ts";
import { forEachSignal, Signals } from "../signals.ts";

const topic = "key-changes";

/** Tells all nodes which keys have changed. */
export class KeyChanges extends Context.Service<
  KeyChanges,
  {
    /** Announces a stored change of a key: to this node at once, and to other nodes by a signal that may be lost. */
    readonly announce: (id: KeyId) => Effect.Effect<void>;

    /** Calls back with the id of each changed key, possibly twice, until the scope closes. */
    readonly subscribe: (onChange: (id: string) => void) => Effect.Effect<void, never, Scope.Scope>;
  }
>()("@accountlink/core/KeyChanges") {
  static readonly layer = Effect.gen(function* () {
    const signals = yield* Signals;
    const subscribers = new Set<(id: string) => void>();
    return KeyChanges.of({
      announce: (id) =>
        Effect.suspend(() => {
          for (const onChange of subscribers) onChange(id);
          return Effect.ignore(signals.publish(topic, id));
        }),
      subscribe: (onChange) =>
        Effect.acquireRelease(
          Effect.sync(() => subscribers.add(onChange)),
          () => Effect.sync(() => subscribers.delete(onChange)),
        ).pipe(Effect.andThen(forEachSignal(topic, onChange)), Effect.provideService(Signals, signals)),
    });
  }).pipe(Layer.effect(KeyChanges));
}

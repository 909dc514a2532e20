import { Context, Effect, Layer } from "effect";
import type { KeyId } from "../ids.ts";
import { forEachSignal, Signals } from "../signals.ts";

const topic = "key-changes";

export class KeyChanges extends Context.Service<KeyChanges>()("@accountlink/core/KeyChanges", {
  make: Effect.gen(function* () {
    const signals = yield* Signals;
    const subscribers = new Set<(id: string) => void>();
    return {
      /** Announces a stored change of a key: to this node at once, and to other nodes by a signal that may be lost. */
      announce: (id: KeyId) =>
        Effect.suspend(() => {
          for (const onChange of subscribers) onChange(id);
          return Effect.ignore(signals.publish(topic, id));
        }),

      /** Calls back with the id of each changed key, possibly twice, until the scope closes. */
      subscribe: (onChange: (id: string) => void) =>
        Effect.acquireRelease(
          Effect.sync(() => subscribers.add(onChange)),
          () => Effect.sync(() => subscribers.delete(onChange)),
        ).pipe(Effect.andThen(forEachSignal(topic, onChange)), Effect.provideService(Signals, signals)),
    };
  }),
}) {
  static readonly layer = Layer.effect(KeyChanges, KeyChanges.make);
}

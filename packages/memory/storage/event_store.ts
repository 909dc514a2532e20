import { EventStore } from "@accountlink/core";
import { Effect, Layer, Option } from "effect";
import { earliest, State } from "./state/state.ts";

export const layer: Layer.Layer<EventStore, never, State> = Layer.effect(
  EventStore,
  Effect.map(State, ({ events }) =>
    EventStore.of({
      range: (pid) =>
        Effect.sync(() => ({ start: events.get(pid)?.start ?? 0, end: events.get(pid)?.end ?? 0 })),

      read: (pid, after, limit) =>
        Effect.sync(() => {
          const feed = events.get(pid);
          const isKept = (feed?.start ?? 0) <= after && after <= (feed?.end ?? 0);
          return isKept ? Option.some(feed?.after(after, limit) ?? []) : Option.none();
        }),

      readBack: (pid, before, limit) =>
        Effect.sync(() => events.get(pid)?.before(before ?? Number.MAX_SAFE_INTEGER, limit) ?? []),

      newer: (places) =>
        Effect.sync(() =>
          places.filter(({ pid, after }) => (events.get(pid)?.end ?? 0) > after).map(({ pid }) => pid),
        ),

      oldestAt: () =>
        Effect.sync(() => earliest([...events.values()].flatMap(({ oldestAt }) => oldestAt ?? []))),

      sweep: ({ before, erasuresBefore }) =>
        Effect.sync(() => {
          let forgotten = 0;
          for (const feed of events.values()) {
            forgotten += feed.forget(before);
            feed.forgetErased(erasuresBefore);
          }
          return forgotten;
        }),
    }),
  ),
);

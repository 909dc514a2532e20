import { EventStore } from "@accountlink/core";
import { Option } from "effect";
import { earliest, layerOf } from "./state/state.ts";

export const layer = layerOf(EventStore, ({ events }) => ({
  range: (pid) => ({ start: events.get(pid)?.start ?? 0, end: events.get(pid)?.end ?? 0 }),

  read: (pid, after, limit) => {
    const feed = events.get(pid);
    const isKept = (feed?.start ?? 0) <= after && after <= (feed?.end ?? 0);
    return isKept ? Option.some(feed?.after(after, limit) ?? []) : Option.none();
  },

  readBack: (pid, before, limit) => events.get(pid)?.before(before ?? Number.MAX_SAFE_INTEGER, limit) ?? [],

  newer: (places) =>
    places.filter(({ pid, after }) => (events.get(pid)?.end ?? 0) > after).map(({ pid }) => pid),

  oldestAt: () => earliest([...events.values()].flatMap(({ oldestAt }) => oldestAt ?? [])),

  sweep: ({ before, erasuresBefore }) => {
    let forgotten = 0;
    for (const feed of events.values()) {
      forgotten += feed.forget(before);
      feed.forgetErased(erasuresBefore);
    }
    return forgotten;
  },
}));

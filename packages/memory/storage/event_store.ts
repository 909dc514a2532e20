import { EventStore, type Pid } from "@accountlink/core";
import { erasedMark } from "@accountlink/core/users";
import { Option } from "effect";
import { earliest, layerOf } from "./state.ts";

export const layer = layerOf(EventStore, (memory) => {
  const feedOf = (pid: Pid) => memory.events.get(pid) ?? { events: [], start: 0, end: 0 };
  return {
    range: (pid) => ({ start: feedOf(pid).start, end: feedOf(pid).end }),

    read: (pid, after, limit) => {
      const { events, start, end } = feedOf(pid);
      if (after < start || after > end) return Option.none();
      return Option.some(events.filter(({ position }) => position > after).slice(0, limit));
    },

    readBack: (pid, before, limit) =>
      feedOf(pid)
        .events.filter(({ position }) => position < (before ?? Infinity))
        .toReversed()
        .slice(0, limit),

    newer: (places) => places.filter(({ pid, after }) => feedOf(pid).end > after).map(({ pid }) => pid),

    oldestAt: () => earliest([...memory.events.values()].flatMap(({ events }) => events[0]?.at ?? [])),

    sweep: ({ before, erasuresBefore }) => {
      let forgotten = 0;
      for (const feed of memory.events.values()) {
        const old = feed.events.filter(({ at }) => at < before);
        feed.start = old.at(-1)?.position ?? feed.start;
        feed.events = feed.events
          .filter(({ at }) => at >= before)
          .map((event) =>
            event.type === "user.erased" && event.at < erasuresBefore
              ? { ...event, data: { chatId: erasedMark } }
              : event,
          );
        forgotten += old.length;
      }
      return forgotten;
    },
  };
});

import { EventStore } from "@accountlink/core";
import type { FeedEvent } from "@accountlink/core/events";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Option } from "effect";
import { eventStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";

type Store = EventStore["Service"];

const changedReads = (
  store: Store,
  change: (events: ReadonlyArray<FeedEvent>, after: number) => ReadonlyArray<FeedEvent>,
): Partial<Store> => ({
  read: (pid, after, limit) =>
    Effect.map(
      store.read(pid, after, limit),
      Option.map((events) => change(events, after)),
    ),
});

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(eventStoreSuite, StorageMemory.layer, EventStore, {
  "read pages forwards, readBack backwards": (store) => ({
    readBack: (pid, before, limit) => store.readBack(pid, before === null ? null : before + 1, limit),
  }),
  "a place after the end of the feed is none": (store) => ({
    read: (pid, after, limit) =>
      Effect.map(store.read(pid, after, limit), (found) => Option.orElseSome(found, () => [])),
  }),
  "two scopes have feeds of their own": (store) => ({
    newer: (places) =>
      Effect.as(
        store.newer(places),
        places.map(({ pid }) => pid),
      ),
  }),
  "a sweep deletes any number of events": (store) => ({
    sweep: ({ erasuresBefore }) => store.sweep({ before: -8_500_000_000_000, erasuresBefore }),
  }),
  "an erasure names its user until the sweep": (store) => ({
    sweep: ({ before }) => store.sweep({ before, erasuresBefore: 0 }),
  }),
  "a read that begins after a write was answered has its event": (store) => ({
    range: (pid) => Effect.map(store.range(pid), ({ start, end }) => ({ start, end: end + 1 })),
  }),
  "who follows the feed while others write sees each event once, and those of a user in order": (store) =>
    changedReads(store, (events) => events.slice(1)),
});

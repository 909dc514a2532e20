/** Reads pages of a feed, with or without a filter. */
import { Effect, Option } from "effect";
import { Conflict } from "../errors.ts";
import type { Pid } from "../ids.ts";
import { type EventFilter, type FeedEvent, matchesFilter } from "./event.ts";
import type { EventStore } from "./event_store.ts";

/** How many events one read returns at most, and how many reads there are at most, with a filter or for `history`. */
export const filterPage = 500;
const maxFilterPages = 10;

export type Read = EventStore["Service"]["read"];

export const readKept = Effect.fnUntraced(function* (read: Read, pid: Pid, after: number, limit: number) {
  const events = yield* read(pid, after, limit);
  if (Option.isNone(events)) return yield* new Conflict({ reason: "cursor_expired" });
  return events.value;
});

/** Reads page after page until `limit` events match a filter, or a page is not full. */
export const search = Effect.fnUntraced(function* <Place extends number | null, E>(
  read: (place: NoInfer<Place> | number) => Effect.Effect<ReadonlyArray<FeedEvent>, E>,
  start: Place,
  pageSize: number,
  limit: number,
  filter: EventFilter,
) {
  const events: Array<FeedEvent> = [];
  let position: Place | number = start;
  for (let pages = 0; pages < maxFilterPages; pages++) {
    const page: ReadonlyArray<FeedEvent> = yield* read(position);
    for (const event of page) {
      if (!matchesFilter(event, filter)) continue;
      if (events.length === limit)
        return { events, position: events.at(-1)?.position ?? position, more: true };
      events.push(event);
    }
    position = page.at(-1)?.position ?? position;
    if (page.length < pageSize) return { events, position, more: false };
  }
  return { events, position, more: true };
});

/** Makes a function that reads a page of the events that match a filter. `isEnded`: a stream ends after this page. */
export const makePages = (read: Read) => (pid: Pid, after: number, limit: number, filter: EventFilter) => {
  const isAll = filter.types === null && filter.chatId === null && filter.gameId === null;
  const size = isAll ? limit + 1 : filterPage;
  const found = search((place) => readKept(read, pid, place, size), after, size, limit, filter);
  return Effect.map(found, (page) => ({ ...page, isEnded: false }));
};

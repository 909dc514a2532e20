import { Context, Effect, Layer, Option, Schedule, Stream } from "effect";
import { type DataScope, guildOf } from "../data_scope.ts";
import { Conflict, InvalidParameter } from "../errors.ts";
import type { GuildId, KeyId, Pid } from "../ids.ts";
import type { Link } from "../links/link.ts";
import { LinkStore } from "../links/link_store.ts";
import { pageOf } from "../list_page.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import { SessionSettings } from "../sessions/session_settings.ts";
import { traced } from "../telemetry/tracing.ts";
import type { Millis } from "../timestamp.ts";
import { bounds, makePlaces, Turns } from "../turns/mod.ts";
import type { EventFilter } from "./event.ts";
import { EventStore } from "./event_store.ts";
import { type EventSubscription, EventWatch, makeReaderLimit } from "./event_watch.ts";
import { makeCursors } from "./feed_cursor.ts";
import { filterPage, makePages, type Read, readKept, search } from "./feed_pages.ts";
import { type FeedStep, feedSteps } from "./feed_steps.ts";
import { makeSharedReads } from "./shared_reads.ts";

/** A scope's feed and the key that reads it. @internal */
export interface FeedTarget {
  readonly scope: DataScope;
  readonly guildId: GuildId | null;
  /** The key that reads; null if a process that embeds the service reads. */
  readonly keyId: KeyId | null;
}

/** @internal */
export interface FeedStart extends EventFilter {
  readonly cursor: string | null;
  /** Where to begin if there is no cursor. */
  readonly from: "now" | "oldest";
}

/** @internal */
export interface LinkPage {
  readonly links: ReadonlyArray<Link>;
  /** The cursor of the next page; null on the last page. */
  readonly cursor: string | null;
  /** A feed cursor from before the first page was read. The events after it include all later changes of links. */
  readonly events: string;
}

const streamPage = 100;

/** Reads feeds of scopes for clients: in pages, with waiting, or as a stream. @internal */
export class EventFeed extends Context.Service<EventFeed>()("@accountlink/core/EventFeed", {
  make: Effect.gen(function* () {
    const store = yield* EventStore;
    const links = yield* LinkStore;
    const guard = yield* GuildGuard;
    const watch = yield* EventWatch;
    const cursors = yield* makeCursors;
    const { streamMax } = yield* SessionSettings;
    const admit = makeReaderLimit();
    /** For streams of past events, which need not wait between their pages. */
    const inPlace = yield* makePlaces(new Turns({ resource: "event_pages", share: bounds.dearRequests }));

    /** Opens a cursor before the guild is checked, as other parameters. Null without a cursor. */
    const enterAt = Effect.fnUntraced(function* <Place>(
      { scope, guildId }: FeedTarget,
      cursor: string | null,
      open: (pid: Pid, cursor: string) => Effect.Effect<Option.Option<Place>>,
      expected: string,
    ) {
      const place = cursor === null ? null : Option.getOrNull(yield* open(scope.pid, cursor));
      if (cursor !== null && place === null) return yield* InvalidParameter.one("cursor", expected);
      yield* guard.enter(scope, guildId ?? guildOf(scope));
      return place;
    });

    const enter = (target: FeedTarget, { cursor }: FeedStart) =>
      enterAt(target, cursor, cursors.readEvent, "expected a cursor of this scope");

    /**
     * Fails with `Conflict` for a position that the feed does not have: the storage was restored from a backup since, and
     * events before the position may be missing.
     */
    const requirePosition = Effect.fnUntraced(function* (pid: Pid, position: number) {
      const [found] = Option.getOrElse(yield* store.read(pid, position - 1, 1), () => []);
      if (found?.position === position || position === (yield* store.range(pid)).start) return position;
      return yield* new Conflict({ reason: "cursor_expired" });
    });

    const placeOf = Effect.fnUntraced(function* (pid: Pid, position: number | null, { from }: FeedStart) {
      if (position !== null) return yield* requirePosition(pid, position);
      const { start, end } = yield* store.range(pid);
      return from === "now" ? end : start;
    });

    const readPage: Read = (pid, after, limit) => store.read(pid, after, limit);
    const pageAfter = makePages(readPage);
    const pageTogether = makePages(yield* makeSharedReads(readPage));

    /**
     * Reads the events after the subscription's position. If there are none, waits until an event arrives, `until` is
     * reached by `monotonicMillis`, or the subscription ends.
     */
    const awaitPage = Effect.fnUntraced(function* (
      subscription: EventSubscription,
      filter: EventFilter,
      limit: number,
      until: Millis,
    ) {
      while (true) {
        const page = yield* pageTogether(subscription.pid, subscription.after, limit, filter);
        subscription.after = page.position;
        if (page.events.length > 0 || page.more) return page;
        const left = until - (yield* monotonicMillis);
        if (left <= 0) return page;
        const notice = yield* left === Infinity
          ? Effect.asSome(subscription.next)
          : Effect.timeoutOption(subscription.next, left);
        if (Option.isNone(notice)) return page;
        if (notice.value === "end") return { ...page, isEnded: true };
      }
    });

    return {
      /**
       * Reads a page of events, oldest first. If there is no new event, waits up to `wait` milliseconds. `cursor` is the
       * place after the last event, and `more` says whether the feed may already have events after it. Fails with
       * `Conflict` if the query's cursor is older than the retention.
       */
      read: Effect.fnUntraced(
        function* (target: FeedTarget, query: FeedStart & { readonly limit: number; readonly wait: Millis }) {
          const position = yield* enter(target, query);
          const { scope, keyId } = target;
          const until = (yield* monotonicMillis) + query.wait;
          if (query.wait > 0) yield* admit(keyId, until);
          const after = yield* placeOf(scope.pid, position, query);
          const page =
            query.wait > 0
              ? yield* awaitPage(yield* watch.subscribe(scope.pid, after, keyId), query, query.limit, until)
              : yield* pageAfter(scope.pid, after, query.limit, query);
          return {
            events: page.events,
            more: page.more,
            cursor: yield* cursors.event(scope.pid, page.position),
          };
        },
        Effect.scoped,
        traced("EventFeed.read"),
      ),

      /**
       * Opens a stream. `SessionSettings.streamMax` limits its duration. The last step is `timeout`, even if the store
       * fails.
       */
      stream: Effect.fnUntraced(function* (target: FeedTarget, start: FeedStart) {
        const position = yield* enter(target, start);
        const { pid } = target.scope;
        const until = streamMax > 0 ? (yield* monotonicMillis) + streamMax : Infinity;
        yield* admit(target.keyId, until);
        const after = yield* placeOf(pid, position, start);
        // Refuse an expired cursor before the stream begins.
        yield* readKept(readPage, pid, after, 1);
        const subscription = yield* watch.subscribe(pid, after, target.keyId);
        const cursorAt = (reached: number) => cursors.event(pid, reached);

        const readOn = Effect.fnUntraced(function* (readUntil: Millis) {
          if (subscription.hasEnded) return { events: [], more: false, isEnded: true };
          const page = yield* awaitPage(subscription, start, streamPage, readUntil).pipe(
            // A failed read ends the stream, and the client reconnects.
            Effect.catch(() => Effect.succeed({ events: [], more: false, position: after, isEnded: true })),
          );
          const events = yield* Effect.forEach(page.events, (event) =>
            Effect.map(cursorAt(event.position), (cursor): FeedStep => ({ step: "event", event, cursor })),
          );
          return { ...page, events };
        });

        return feedSteps(
          {
            read: readOn,
            readNow: (now) => inPlace(target.scope, readOn(now)),
            cursor: Effect.suspend(() => cursorAt(subscription.after)),
          },
          until,
        );
      }),

      /** Emits the events of a feed, each with the cursor to continue after this event. The stream has no time limit. */
      follow: (target: FeedTarget, start: FeedStart) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const position = yield* enter(target, start);
            const { pid } = target.scope;
            const after = yield* placeOf(pid, position, start);
            const subscription = yield* watch.subscribe(pid, after, target.keyId);
            const page = Effect.gen(function* () {
              if (subscription.hasEnded) return undefined;
              const { events, isEnded } = yield* awaitPage(subscription, start, streamPage, Infinity).pipe(
                Effect.retry({
                  while: ({ _tag }) => _tag === "StoreUnavailable",
                  schedule: Schedule.spaced("1 second"),
                }),
              );
              const withCursors = yield* Effect.forEach(events, (event) =>
                Effect.map(cursors.event(pid, event.position), (cursor) => ({ event, cursor })),
              );
              return isEnded && events.length === 0 ? undefined : ([withCursors, null] as const);
            });
            return Stream.flattenIterable(Stream.unfold(null, () => page));
          }),
        ),

      /**
       * Reads the events before a position, newest first; null starts at the last event. `next` is the position for the
       * next call. With a filter, a page may be shorter, because only some thousands of events are searched.
       */
      history: Effect.fn("EventFeed.history")(function* (
        pid: Pid,
        before: number | null,
        limit: number,
        filter: EventFilter,
      ) {
        const readBack = (place: number | null) => store.readBack(pid, place, filterPage);
        const { events, position, more } = yield* search(readBack, before, filterPage, limit, filter);
        return { events, next: more ? position : null };
      }),

      /** Lists all links, sorted by chat ID as text. */
      links: Effect.fn("EventFeed.links")(function* (
        target: FeedTarget,
        { cursor, limit }: { readonly cursor: string | null; readonly limit: number },
      ) {
        const place = yield* enterAt(target, cursor, cursors.readList, "expected a cursor of this list");
        const { pid } = target.scope;
        // Read the position before the first page, so that the feed contains all later changes.
        const position =
          place === null ? (yield* store.range(pid)).end : yield* requirePosition(pid, place.position);
        const after = place?.chatId ?? null;
        const { page, last } = pageOf(yield* links.exportPage(pid, after, limit + 1), limit);
        return {
          links: page,
          cursor: last && (yield* cursors.list(pid, { chatId: last.chatId, position })),
          events: yield* cursors.event(pid, position),
        };
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(EventFeed, EventFeed.make).pipe(Layer.provideMerge(EventWatch.layer));
}

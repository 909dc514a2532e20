import type { ChatId, GameId } from "@accountlink/core";
import {
  EventFeed,
  type EventType,
  eventTypes,
  type FeedTarget,
  type NewEvent,
} from "@accountlink/core/events";
import { Context, Effect, Layer, Stream } from "effect";
import * as Accept from "./accept.ts";
import { streamMethod } from "./method.ts";
import { Scope } from "./scope.ts";
import { withSpans } from "./spans.ts";

/** Which events to read, and where to begin. */
export interface EventChoice {
  /** Where to resume: a cursor that came with an event, or the result of `now`. */
  readonly cursor?: string;
  /** Where to begin without a cursor: at the present, which is the default, or at the oldest event. */
  readonly from?: "now" | "oldest";
  /** All if empty or left out. */
  readonly types?: ReadonlyArray<EventType>;
  /** Selects events in which this chat user is the present or the previous user of the link. */
  readonly chatId?: string;
  /** Selects events in which this game user is the present or the previous user of the link. */
  readonly gameId?: string;
}

/**
 * An event, and the cursor from which to continue after this event. Store the cursor together with what your program
 * stores for the event.
 */
export type FollowedEvent = NewEvent & { readonly cursor: string };

/**
 * The event feed of the scope: every committed change, no matter who made it, exactly once, in the order in which the
 * changes were committed.
 *
 * @example
 * ```ts
 * import { Effect, Stream } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const [events, links] = [yield* Events, yield* Links];
 *   const cursor = yield* events.now();
 *   yield* links.set("100001", "1");
 *   yield* links.delete("100001");
 *   const followed = events.follow({ cursor }).pipe(Stream.take(2), Stream.runCollect);
 *   return (yield* followed).map(({ type }) => type);
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // ["link.set", "link.removed"]
 * ```
 */
export class Events extends Context.Service<Events>()("accountlink/Events", {
  make: Effect.gen(function* () {
    const feed = yield* EventFeed;
    const target: FeedTarget = { scope: yield* Scope, guildId: null, keyId: null };
    return {
      /**
       * Streams every event from a cursor on, without end. Fails with `Conflict` `cursor_expired` if the service no
       * longer keeps events as old as the cursor; then read `links.all` again.
       */
      follow: streamMethod([selecting], (choice?: EventChoice) =>
        Stream.map(
          feed.follow(target, {
            cursor: choice?.cursor ?? null,
            from: choice?.from ?? "now",
            types: choice?.types?.length ? choice.types : null,
            chatId: (choice?.chatId ?? null) as ChatId | null,
            gameId: (choice?.gameId ?? null) as GameId | null,
          }),
          ({ event: { position: _, ...event }, cursor }): FollowedEvent => ({ ...event, cursor }),
        ),
      ),

      /**
       * Returns the cursor of the present. To keep a copy of all links, take this cursor before `links.all`, and follow
       * events from it.
       */
      now: () => {
        const everything = { cursor: null, from: "now", types: null, chatId: null, gameId: null } as const;
        return Effect.map(feed.read(target, { ...everything, limit: 1, wait: 0 }), ({ cursor }) => cursor);
      },
    };
  }).pipe(withSpans("Events")),
}) {
  static readonly layer = Layer.effect(Events, Events.make);
}

const selecting = Accept.options({
  cursor: Accept.maybe(Accept.text),
  from: Accept.maybe(Accept.oneOf(["now", "oldest"])),
  types: Accept.maybe(Accept.listOf(Accept.oneOf(eventTypes))),
  chatId: Accept.maybe(Accept.anyChatId),
  gameId: Accept.maybe(Accept.anyGameId),
});

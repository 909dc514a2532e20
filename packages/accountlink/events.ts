import type { Conflict, InvalidParameter, StoreUnavailable } from "@accountlink/core";
import type { RateLimited } from "@accountlink/core/errors";
import { EventFeed, type EventType, type FeedTarget, type NewEvent } from "@accountlink/core/events";
import type { GuildError } from "@accountlink/core/platforms";
import { Context, Effect, Layer, Stream } from "effect";
import { chatIdOf, gameIdOf } from "./ids.ts";
import { Scope } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

/** Which events to read, and where to begin. */
export interface EventChoice {
  /** Where to resume: a cursor that came with an event, or the result of `now`. */
  readonly cursor?: string;
  /** Where to begin without a cursor: at the present, which is the default, or at the oldest event. */
  readonly from?: "now" | "oldest";
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

type EventError = GuildError | InvalidParameter | Conflict | RateLimited | StoreUnavailable;

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
export class Events extends Context.Service<
  Events,
  {
    /**
     * Streams every event from a cursor on, without end. Fails with `Conflict` `cursor_expired` if the service no
     * longer keeps events as old as the cursor; then read `links.all` again.
     */
    readonly follow: (choice?: EventChoice) => Stream.Stream<FollowedEvent, EventError>;

    /**
     * Returns the cursor of the present. To keep a copy of all links, take this cursor before `links.all`, and follow
     * events from it.
     */
    readonly now: () => Effect.Effect<string, EventError>;
  }
>()("accountlink/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const feed = yield* EventFeed;
      const target: FeedTarget = { scope: yield* Scope, guildId: null, keyId: null };
      const everything = { cursor: null, from: "now", types: null, chatId: null, gameId: null } as const;
      return Events.of(
        checked<Events["Service"]>(
          {
            follow: ({ cursor = null, from = "now", types = null, chatId, gameId } = {}) =>
              Stream.unwrap(
                Effect.gen(function* () {
                  const start = {
                    cursor,
                    from,
                    types,
                    chatId: chatId === undefined ? null : yield* chatIdOf(chatId),
                    gameId: gameId === undefined ? null : yield* gameIdOf(gameId),
                  };
                  return Stream.map(
                    feed.follow(target, start),
                    ({ event: { position: _, ...event }, cursor: after }) => ({
                      ...event,
                      cursor: after,
                    }),
                  );
                }),
              ),
            now: () =>
              Effect.map(feed.read(target, { ...everything, limit: 1, wait: 0 }), ({ cursor }) => cursor),
          },
          signatures.events,
        ),
      );
    }),
  );
}

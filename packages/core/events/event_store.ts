/** The port for the feed of events. The stores append events themselves, in the transaction of the change. */
import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { FeedEvent } from "./event.ts";

/** Where the feed of a scope begins and ends. */
export interface FeedRange {
  /** The position before the oldest event that is kept. */
  readonly start: number;
  /** The position of the last event. */
  readonly end: number;
}

/** A place in the feed of a scope. */
export interface FeedPlace {
  readonly pid: Pid;
  /** The position after which events have not been seen. */
  readonly after: number;
}

/** What a sweep changes. */
export interface SweepEvents {
  /** Older events are deleted. */
  readonly before: Millis;
  /** Older erasures no longer name their user. */
  readonly erasuresBefore: Millis;
}

/**
 * Where events live. A position orders the events of one scope:
 *
 * - Every operation sees all events whose write was answered before it began.
 * - Once a position was read, no event appears before it. So whoever reads on from the last position misses none.
 * - The events of a chat user are in the order of the writes to their record.
 *
 * @example
 * ```ts
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Scope } from "accountlink";
 * import { Effect, Option } from "effect";
 *
 * const world = await memoryWorld(aFixture({ links: [{ chatId: "100001", gameId: "1" }] }));
 * await world.links.delete("100001");
 * const program = Effect.gen(function* () {
 *   const [store, { pid }] = [yield* EventStore, yield* Scope];
 *   const { start } = yield* store.range(pid);
 *   return Option.getOrThrow(yield* store.read(pid, start, 10));
 * });
 * const events = await world.run(program);
 * events.map(({ type }) => type); // ["links.imported", "link.removed"]
 * await world.close();
 * ```
 */
export class EventStore extends Context.Service<
  EventStore,
  {
    readonly range: (pid: Pid) => Effect.Effect<FeedRange, StoreUnavailable>;

    /**
     * Up to `limit` events after a position, oldest first. None if later events were deleted, or if the feed has not
     * come so far, as after a backup was restored.
     */
    readonly read: (
      pid: Pid,
      after: number,
      limit: number,
    ) => Effect.Effect<Option.Option<ReadonlyArray<FeedEvent>>, StoreUnavailable>;

    /** Up to `limit` events before a position, newest first; null for the last ones. */
    readonly readBack: (
      pid: Pid,
      before: number | null,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<FeedEvent>, StoreUnavailable>;

    /** The scopes that have events after these places. */
    readonly newer: (places: ReadonlyArray<FeedPlace>) => Effect.Effect<ReadonlyArray<Pid>, StoreUnavailable>;

    /** When the event of all scopes happened that was stored first; null if there is none. */
    readonly oldestAt: () => Effect.Effect<Millis | null, StoreUnavailable>;

    /** Deletes old events in small atomic steps, the oldest first, and returns their number. */
    readonly sweep: (sweep: SweepEvents) => Effect.Effect<number, StoreUnavailable>;
  }
>()("@accountlink/core/EventStore") {}

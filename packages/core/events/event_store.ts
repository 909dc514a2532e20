import { Context, type Option } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { FeedEvent } from "./event.ts";

export interface FeedPlace {
  readonly pid: Pid;
  /** The position of the last event that was seen. */
  readonly after: number;
}

export interface SweepEvents {
  /** Events before this time are deleted. */
  readonly before: Millis;
  /** `user.erased` events before this time lose the chat ID of the user. */
  readonly erasuresBefore: Millis;
}

/**
 * Stores the feed of events. Other stores append each event in the transaction that makes the change. A position orders
 * the events of one scope:
 *
 * - Every operation sees all events whose write was answered before the operation began.
 * - Once a position was read, no new event gets an earlier position. Readers that continue from the last position miss
 *   nothing.
 * - The events of a chat user are in the order of the writes to the user's record.
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
    /** Returns the part of the feed that is kept: the position before the oldest event, and the position of the last. */
    readonly range: (pid: Pid) => StoreEffect<{ readonly start: number; readonly end: number }>;

    /**
     * Reads up to `limit` events after a position, oldest first. Returns `None` if events after the position were
     * deleted, or if the feed ends before the position, which can happen after a backup was restored.
     */
    readonly read: (
      pid: Pid,
      after: number,
      limit: number,
    ) => StoreEffect<Option.Option<ReadonlyArray<FeedEvent>>>;

    /** Reads up to `limit` events before a position, newest first; null starts at the last event. */
    readonly readBack: (
      pid: Pid,
      before: number | null,
      limit: number,
    ) => StoreEffect<ReadonlyArray<FeedEvent>>;

    /** Returns the given scopes that have events after their given position. */
    readonly newer: (places: ReadonlyArray<FeedPlace>) => StoreEffect<ReadonlyArray<Pid>>;

    /**
     * Deletes old events in small atomic steps, oldest first. Returns their number, and the time of the oldest event that
     * it left in any scope; null without events.
     */
    readonly sweep: (
      sweep: SweepEvents,
    ) => StoreEffect<{ readonly forgotten: number; readonly oldestAt: Millis | null }>;
  }
>()("@accountlink/core/EventStore") {}

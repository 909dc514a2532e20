/**
 * The events of one webhook that are in memory. Decides which of them may be sent now: the events of one chat user are
 * sent in order, but do not wait for the events of other users. Each user is a lane.
 */
import type { Millis } from "../../timestamp.ts";
import type { StoredDelivery } from "../webhook_store.ts";

export interface Entry {
  /**
   * The delivery as it is before the next attempt. The delivery of a new event has the status `waiting` and no
   * attempts.
   */
  readonly delivery: StoredDelivery & { readonly position: number };
  readonly isStored: boolean;
  /** Erasure events are sent even if earlier deliveries of the user fail. */
  readonly isErasure: boolean;
}

interface Unsaved {
  readonly deliveries: Map<string, StoredDelivery>;
  readonly freedLanes: Set<string>;
  deliveredAt: Millis | null;
  failedAt: Millis | null;
}

const nothing = (): Unsaved => ({
  deliveries: new Map(),
  freedLanes: new Set(),
  deliveredAt: null,
  failedAt: null,
});

export class DeliveryWindow<E extends Entry = Entry> {
  /** All events up to this position were read. */
  readPosition: number;
  /** Events not finished yet, by ID. */
  readonly #entries = new Map<string, E>();
  /** The feed position of each unfinished event that was read from the feed, by event ID, in feed order. */
  readonly #open = new Map<string, number>();
  readonly #lanes = new Map<string, Array<E>>();
  readonly #ready: Array<E> = [];
  /** Events that are ready or being sent. */
  readonly #sending = new WeakSet<E>();
  /** Lanes with a failure that is not stored yet. */
  #failedLanes = new Set<string>();
  #unsaved = nothing();

  /** @param position all events up to this position are done */
  constructor(position: number) {
    this.readPosition = position;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The feed position to store. If another node takes over the webhook, that node reads the feed after this position.
   */
  get position(): number {
    const [first] = this.#open.values();
    return first === undefined ? this.readPosition : first - 1;
  }

  /** The time of the oldest unfinished event that was read from the feed; null if there is none. */
  get oldestAt(): Millis | null {
    const [first] = this.#open.keys();
    return first === undefined ? null : (this.#entries.get(first)?.delivery.at ?? null);
  }

  /** Records that all events up to a position were read. */
  skipTo(position: number): void {
    this.readPosition = Math.max(this.readPosition, position);
  }

  /**
   * Adds the next event of the feed. If an earlier failure blocks the event, the event is moved to the store instead.
   */
  addNew(entry: E, isBlocked: boolean): void {
    const { eventId, lanes, position } = entry.delivery;
    this.skipTo(position);
    const mustWait = !entry.isErasure && (isBlocked || lanes.some((lane) => this.#failedLanes.has(lane)));
    if (mustWait) {
      this.#putAside(entry);
      return;
    }
    this.#open.set(eventId, position);
    this.#add(entry);
  }

  /**
   * Adds a due delivery that was read from the store, unless the delivery is in the window or has just been finished.
   */
  addDue(entry: E): void {
    const { eventId } = entry.delivery;
    if (!this.#entries.has(eventId) && !this.#unsaved.deliveries.has(eventId)) this.#add(entry);
  }

  /** Returns the next event to send; undefined if none may be sent now. */
  next(): E | undefined {
    return this.#ready.shift();
  }

  get isReady(): boolean {
    return this.#ready.length > 0;
  }

  /**
   * Records the result of an attempt. A failing delivery moves the later events of its lanes to the store, where they
   * wait. After any other result, the next event of each lane becomes ready if it is the first in all of its lanes.
   */
  finish(entry: E, delivery: StoredDelivery, at: Millis): void {
    const { lanes } = entry.delivery;
    if (delivery.status === "delivered") {
      this.#unsaved.deliveredAt = at;
      this.#unsaved.failedAt = null;
    } else {
      this.#unsaved.failedAt ??= at;
    }
    this.#unsaved.deliveries.set(delivery.eventId, delivery);
    if (delivery.status === "failing") {
      for (const lane of lanes) this.#failedLanes.add(lane);
    } else if (entry.isStored) {
      for (const lane of lanes) this.#unsaved.freedLanes.add(lane);
    }
    this.#remove(entry);
    this.#offerFirst(delivery.status === "failing" ? this.#putFollowersAside(lanes) : lanes);
  }

  /** Drops an event that is no longer in the feed. */
  drop(entry: E, delivery: StoredDelivery): void {
    this.#unsaved.deliveries.set(delivery.eventId, delivery);
    for (const lane of entry.delivery.lanes) this.#unsaved.freedLanes.add(lane);
    this.#remove(entry);
    this.#offerFirst(entry.delivery.lanes);
  }

  get hasUnsaved(): boolean {
    return this.#unsaved.deliveries.size > 0;
  }

  /** Returns the results to store, and forgets them. Must be called before further events are added to the window. */
  takeUnsaved(): Unsaved {
    const unsaved = this.#unsaved;
    this.#unsaved = nothing();
    this.#failedLanes = new Set();
    return unsaved;
  }

  #add(entry: E): void {
    this.#entries.set(entry.delivery.eventId, entry);
    for (const lane of entry.delivery.lanes) {
      const queue = this.#lanes.get(lane);
      if (queue === undefined) this.#lanes.set(lane, [entry]);
      else queue.push(entry);
    }
    this.#offer(entry);
  }

  #remove(entry: E): void {
    const { eventId, lanes } = entry.delivery;
    this.#entries.delete(eventId);
    this.#open.delete(eventId);
    for (const lane of lanes) {
      const left = (this.#lanes.get(lane) ?? []).filter((other) => other !== entry);
      if (left.length === 0) this.#lanes.delete(lane);
      else this.#lanes.set(lane, left);
    }
  }

  #offerFirst(lanes: Iterable<string>): void {
    for (const lane of lanes) {
      const first = this.#lanes.get(lane)?.[0];
      if (first !== undefined) this.#offer(first);
    }
  }

  /** Makes an entry ready if it is the first in all of its lanes. */
  #offer(entry: E): void {
    const isFirst = entry.delivery.lanes.every((lane) => this.#lanes.get(lane)?.[0] === entry);
    if (isFirst && !this.#sending.has(entry)) {
      this.#sending.add(entry);
      this.#ready.push(entry);
    }
  }

  /**
   * Moves to the store all events that must wait for a failed event: the later events of its lanes, then the later
   * events of the other lanes of those events, and so on. Returns all these lanes.
   *
   * @param lanes the lanes of the failed event
   */
  #putFollowersAside(lanes: ReadonlyArray<string>): ReadonlySet<string> {
    const reached = [...lanes];
    const blocked = new Set(lanes);
    for (let lane = reached.pop(); lane !== undefined; lane = reached.pop()) {
      const followers = (this.#lanes.get(lane) ?? []).filter(
        (entry) => !this.#sending.has(entry) && !entry.isErasure,
      );
      for (const entry of followers) {
        this.#remove(entry);
        this.#putAside(entry);
        for (const other of entry.delivery.lanes) {
          if (blocked.has(other)) continue;
          blocked.add(other);
          reached.push(other);
        }
      }
    }
    return blocked;
  }

  /** Moves an event to the store. The event becomes due there when the earlier events of its lanes are done. */
  #putAside({ delivery }: E): void {
    this.#unsaved.deliveries.set(delivery.eventId, { ...delivery, nextAttemptAt: null });
    for (const lane of delivery.lanes) this.#failedLanes.add(lane);
  }
}

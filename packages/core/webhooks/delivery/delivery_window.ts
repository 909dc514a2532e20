/**
 * Decides which events of a webhook in memory may be sent now. Events of one chat user keep their order, and events of
 * other users need not wait. Each user is a lane.
 */
import type { Millis } from "../../timestamp.ts";
import type { StoredDelivery } from "../webhook_store.ts";

export interface Entry {
  /** The delivery so far; a new delivery waits and has no attempts. */
  readonly delivery: StoredDelivery & { readonly position: number };
  /** Whether the delivery is in the store. */
  readonly isStored: boolean;
  /** Erasure events are sent even if earlier deliveries of the user fail. */
  readonly isErasure: boolean;
}

/** Results to be stored. */
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
  #read: number;
  /** Events not finished yet, by ID. */
  readonly #entries = new Map<string, E>();
  /** Positions of unfinished new events, in order. The saved position stays before the first of them. */
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
    this.#read = position;
  }

  get size(): number {
    return this.#entries.size;
  }

  get readPosition(): number {
    return this.#read;
  }

  /** The position from which another node would have to continue after `unsaved` is stored. */
  get position(): number {
    const [first] = this.#open.values();
    return first === undefined ? this.#read : first - 1;
  }

  /** The time of the oldest unfinished new event, or null. */
  get oldestAt(): Millis | null {
    const [first] = this.#open.keys();
    return first === undefined ? null : (this.#entries.get(first)?.delivery.at ?? null);
  }

  /** Records that all events up to a position were read. */
  skipTo(position: number): void {
    this.#read = Math.max(this.#read, position);
  }

  /** Adds the next event of the feed. A blocked event waits in the store. */
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

  /** Adds a due delivery of the store, unless the window has it or has just finished it. */
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
   * Records the result of an attempt. Later events of the same lanes become ready, or after a failure wait in the
   * store.
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

  /** Returns the results to store. Must be called before anything else is added. */
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
   * Moves the events that a failed event blocks to the store: the later events of its lanes, then the later events of
   * their other lanes. Returns all these lanes.
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

  /** The event becomes due when the event before it is done. */
  #putAside({ delivery }: E): void {
    this.#unsaved.deliveries.set(delivery.eventId, { ...delivery, nextAttemptAt: null });
    for (const lane of delivery.lanes) this.#failedLanes.add(lane);
  }
}

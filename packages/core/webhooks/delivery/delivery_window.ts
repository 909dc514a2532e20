/**
 * The events of a webhook that a node has in hand: which may be sent now, so that the events of a chat user keep their
 * order and those of others need not wait.
 */
import type { Millis } from "../../timestamp.ts";
import type { StoredDelivery } from "../webhook_store.ts";

/** An event in hand. */
export interface Entry {
  /** The delivery so far; a new one waits, and has no attempts. */
  readonly delivery: StoredDelivery & { readonly position: number };
  /** Whether the store has the delivery. */
  readonly isStored: boolean;
  /** An erasure has to arrive whatever became of what it erases. */
  readonly isErasure: boolean;
}

/** What is to be stored. */
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
  /** All events up to here were read. */
  #read: number;
  /** In hand, by event. */
  readonly #entries = new Map<string, E>();
  /** Positions that hold the saved position back: of new events in hand, in order. */
  readonly #open = new Map<string, number>();
  readonly #lanes = new Map<string, Array<E>>();
  readonly #ready: Array<E> = [];
  /** What is ready or on its way. */
  readonly #sending = new WeakSet<E>();
  /** Lanes with a failure that is not stored yet. */
  #failedLanes = new Set<string>();
  #unsaved = nothing();

  /** @param position the position up to which nothing is left to do */
  constructor(position: number) {
    this.#read = position;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The position up to which events were read. */
  get readPosition(): number {
    return this.#read;
  }

  /** The position from which another node would have to go on, once `unsaved` is stored. */
  get position(): number {
    const [first] = this.#open.values();
    return first === undefined ? this.#read : first - 1;
  }

  /** The time of the oldest new event in hand; null if there is none. */
  get oldestAt(): Millis | null {
    const [first] = this.#open.keys();
    return first === undefined ? null : (this.#entries.get(first)?.delivery.at ?? null);
  }

  /** Notes that all events up to a position were read. */
  skipTo(position: number): void {
    this.#read = Math.max(this.#read, position);
  }

  /** Takes the next event of the feed. One that is blocked waits in the store. */
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

  /** Takes a delivery of the store that is due, unless it is in hand, or was until now. */
  addDue(entry: E): void {
    const { eventId } = entry.delivery;
    if (!this.#entries.has(eventId) && !this.#unsaved.deliveries.has(eventId)) this.#add(entry);
  }

  /** The next event to send; undefined if none may be sent now. */
  next(): E | undefined {
    return this.#ready.shift();
  }

  get isReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Notes what became of an event. What follows it in its lanes goes on, or waits in the store. */
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

  /** Takes what is to be stored, before anything else is added. */
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

  /** Makes an entry ready if it is the first of all of its lanes. */
  #offer(entry: E): void {
    const isFirst = entry.delivery.lanes.every((lane) => this.#lanes.get(lane)?.[0] === entry);
    if (isFirst && !this.#sending.has(entry)) {
      this.#sending.add(entry);
      this.#ready.push(entry);
    }
  }

  /** What follows a failure, in its lanes and in those of what follows, waits in the store. Returns all these lanes. */
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

  /** It is due when what is before it is over. */
  #putAside({ delivery }: E): void {
    this.#unsaved.deliveries.set(delivery.eventId, { ...delivery, nextAttemptAt: null });
    for (const lane of delivery.lanes) this.#failedLanes.add(lane);
  }
}

/**
 * The events of one webhook that are in memory. Decides which of them may be sent now: the events of one chat user are
 * sent in order, but do not wait for the events of other users. Each user is a lane.
 */
import type { Millis } from "../../timestamp.ts";
import type { StoredDelivery } from "../webhook.ts";

export interface Entry {
  /** The delivery before the next attempt. The delivery of a new event has the status `waiting` and no attempts. */
  readonly delivery: StoredDelivery & { readonly position: number };
  readonly isStored: boolean;
}

/** An entry, and its place in the order of its lanes. */
interface Place {
  readonly entry: Entry;
  /** How many entries must be finished before this one may be sent. */
  waitsFor: number;
  /** Whether an earlier delivery of one of its lanes has failed. */
  isBlocked: boolean;
  /** The next entry of each lane. */
  readonly followers: Array<Place>;
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

export class DeliveryWindow {
  /** All events up to this position were read. */
  readPosition: number;
  /** Events not finished yet, by ID. */
  readonly #places = new Map<string, Place>();
  /** The feed position of each unfinished event that was read from the feed, by event ID, in feed order. */
  readonly #open = new Map<string, number>();
  /** The last unfinished event of each lane. */
  readonly #lasts = new Map<string, Place>();
  readonly #ready: Array<Entry> = [];
  /** Lanes with a failure that is not stored yet. */
  #failedLanes = new Set<string>();
  #unsaved = nothing();

  /** @param position all events up to this position are done */
  constructor(position: number) {
    this.readPosition = position;
  }

  get size(): number {
    return this.#places.size;
  }

  /**
   * The feed position to store. If another node takes over the webhook, that node reads the feed after this position.
   */
  get position(): number {
    const [first] = this.#open.values();
    return first === undefined ? this.readPosition : first - 1;
  }

  /** The time of the oldest unfinished event that was read from the feed, or null. */
  get oldestAt(): Millis | null {
    const [first] = this.#open.keys();
    return first === undefined ? null : (this.#places.get(first)?.entry.delivery.at ?? null);
  }

  /** Records that all events up to a position were read. */
  skipTo(position: number): void {
    this.readPosition = Math.max(this.readPosition, position);
  }

  /**
   * Adds the next event of the feed. If an earlier failure blocks the event, the event is moved to the store instead.
   */
  addNew(entry: Entry, isBlocked: boolean): void {
    const { eventId, lanes, position } = entry.delivery;
    this.skipTo(position);
    this.#open.set(eventId, position);
    this.#add(entry, isBlocked || lanes.some((lane) => this.#failedLanes.has(lane)));
  }

  /**
   * Adds a due delivery that was read from the store, unless the delivery is in the window or has just been finished.
   */
  addDue(entry: Entry): void {
    const { eventId } = entry.delivery;
    if (!this.#places.has(eventId) && !this.#unsaved.deliveries.has(eventId)) this.#add(entry, false);
  }

  /** Returns the next event to send; undefined if none may be sent now. */
  next(): Entry | undefined {
    return this.#ready.shift();
  }

  /** How many events may be sent now. */
  get ready(): number {
    return this.#ready.length;
  }

  /**
   * Records the result of an attempt. After a failure, the later events of its lanes are moved to the store, where they
   * wait. After any other result, the next event of each lane becomes ready if it is the first in all of its lanes.
   *
   * @param at when the attempt ended; null for an event that is no longer in the feed, so that it was not sent
   */
  finish(entry: Entry, delivery: StoredDelivery, at: Millis | null): void {
    const { eventId, lanes } = entry.delivery;
    const isFailing = delivery.status === "failing";
    if (delivery.status === "delivered") {
      this.#unsaved.deliveredAt = at;
      this.#unsaved.failedAt = null;
    } else {
      this.#unsaved.failedAt ??= at;
    }
    this.#unsaved.deliveries.set(eventId, delivery);
    for (const lane of lanes) {
      if (isFailing) this.#failedLanes.add(lane);
      else if (entry.isStored) this.#unsaved.freedLanes.add(lane);
    }
    this.#leave(this.#places.get(eventId), isFailing);
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

  #add(entry: Entry, isBlocked: boolean): void {
    const { eventId, lanes } = entry.delivery;
    const place: Place = { entry, waitsFor: 0, isBlocked, followers: [] };
    this.#places.set(eventId, place);
    for (const lane of lanes) {
      const last = this.#lasts.get(lane);
      last?.followers.push(place);
      if (last !== undefined) place.waitsFor++;
      this.#lasts.set(lane, place);
    }
    this.#offer(place);
  }

  /** Makes an event ready if it is the first in all of its lanes, or moves it to the store if it is blocked. */
  #offer(place: Place): void {
    const { entry, waitsFor, isBlocked } = place;
    if (waitsFor > 0) return;
    // Erasures are sent even if earlier deliveries of the user fail.
    if (!isBlocked || entry.delivery.type === "user.erased") {
      this.#ready.push(entry);
      return;
    }
    // The event becomes due in the store when the earlier events of its lanes are done.
    this.#unsaved.deliveries.set(entry.delivery.eventId, { ...entry.delivery, nextAttemptAt: null });
    for (const lane of entry.delivery.lanes) this.#failedLanes.add(lane);
    this.#leave(place, true);
  }

  #leave(place: Place | undefined, isFailing: boolean): void {
    if (place === undefined) return;
    const { eventId, lanes } = place.entry.delivery;
    this.#places.delete(eventId);
    this.#open.delete(eventId);
    for (const lane of lanes) if (this.#lasts.get(lane) === place) this.#lasts.delete(lane);
    for (const follower of place.followers) {
      follower.isBlocked ||= isFailing || place.isBlocked;
      follower.waitsFor--;
      this.#offer(follower);
    }
  }
}

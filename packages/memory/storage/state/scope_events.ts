import type { ChatId } from "@accountlink/core";
import { eventWithoutUser, type FeedEvent, type NewEvent } from "@accountlink/core/events";
import type { Millis } from "@accountlink/core/timestamp";
import { erasedMark } from "@accountlink/core/users";

export class ScopeEvents {
  #events: Array<FeedEvent> = [];
  /** The position of the newest deleted event; 0 before the first deletion. */
  start = 0;
  end = 0;

  append(event: NewEvent): void {
    this.#events.push({ ...event, position: ++this.end });
  }

  after(position: number, limit: number): ReadonlyArray<FeedEvent> {
    const first = this.#events.findIndex((event) => event.position > position);
    return first === -1 ? [] : this.#events.slice(first, first + limit);
  }

  before(position: number, limit: number): ReadonlyArray<FeedEvent> {
    const last = this.#events.findLastIndex((event) => event.position < position);
    return this.#events.slice(Math.max(0, last + 1 - limit), last + 1).toReversed();
  }

  get oldestAt(): Millis | null {
    return this.#events[0]?.at ?? null;
  }

  forget(before: Millis): number {
    const kept = this.#events.filter(({ at }) => at >= before);
    const forgotten = this.#events.filter(({ at }) => at < before);
    this.start = forgotten.at(-1)?.position ?? this.start;
    this.#events = kept;
    return forgotten.length;
  }

  /** Removes a user from all events, and returns whether any event named the user. */
  erase(chatId: ChatId): boolean {
    const erased = this.#events.map((event) => eventWithoutUser(event, chatId));
    this.#events = this.#events.map((event, i) => erased[i] ?? event);
    return erased.some((event) => event !== null);
  }

  /** Removes the chat IDs from `user.erased` events that are older than `before`. */
  forgetErased(before: Millis): void {
    this.#events = this.#events.map((event) =>
      event.type === "user.erased" && event.at < before ? { ...event, data: { chatId: erasedMark } } : event,
    );
  }
}

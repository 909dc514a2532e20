/** Finds out what a delivery has sent, from its event and its latest attempt. */
import { Effect, Option, Struct } from "effect";
import { BadRequest, type StoreUnavailable } from "../errors.ts";
import { EventStore } from "../events/event_store.ts";
import { bodyOf, headersOf, type SentEvent } from "./delivery/attempt.ts";
import type { StoredDelivery, StoredWebhook, WebhookDelivery } from "./webhook.ts";
import { WebhookStore } from "./webhook_store.ts";

/** A delivery with the request of its latest attempt. */
export interface SentDelivery {
  readonly delivery: WebhookDelivery;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @internal */
export const isEventId = (text: string): boolean => /^evt_[0-9A-Z]{26}$/.test(text);

export const makeSentDeliveries = Effect.gen(function* () {
  const store = yield* WebhookStore;
  const events = yield* EventStore;
  const notFound = new BadRequest({ problem: "not_found" });

  const findTried = Effect.fnUntraced(function* ({ id }: StoredWebhook, eventId: string) {
    const found = isEventId(eventId) ? yield* store.findDelivery(id, eventId) : Option.none();
    const delivery = Option.getOrNull(found);
    return delivery === null || delivery.status === "waiting" ? yield* notFound : delivery;
  });

  const eventOf = Effect.fnUntraced(function* (
    { scope }: StoredWebhook,
    { eventId, type, at, position }: StoredDelivery,
  ): Effect.fn.Return<SentEvent, BadRequest | StoreUnavailable> {
    if (position === null) return { id: eventId, type, at, data: {} };
    const read = yield* events.read(scope.pid, position - 1, 1);
    const event = Option.getOrElse(read, () => [])[0];
    return event?.id === eventId ? event : yield* notFound;
  });

  return {
    /** Finds a delivery that is not waiting. */
    findTried,
    eventOf,

    sent: Effect.fnUntraced(function* (webhook: StoredWebhook, eventId: string) {
      const delivery = yield* findTried(webhook, eventId);
      return {
        delivery: shownDelivery(delivery),
        headers: headersOf(eventId, delivery.attemptedAt ?? delivery.at, "v1,…"),
        body: bodyOf(webhook, yield* eventOf(webhook, delivery)),
      } satisfies SentDelivery;
    }),
  };
});

/** Returns a delivery as shown to owners. No caller passes a waiting delivery. */
export const shownDelivery = ({ status, ...delivery }: StoredDelivery): WebhookDelivery => ({
  ...Struct.omit(delivery, ["position", "resends", "lanes"]),
  status: status === "waiting" ? "failing" : status,
});

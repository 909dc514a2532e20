/** Webhooks and their deliveries. */
import type { StoredDelivery, StoredWebhook, WebhookId } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { Tuple } from "../keys.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { type ScopeRef, withScope } from "./scopes.ts";

/** A webhook with its position in the feed of events. */
export interface KeptWebhook {
  readonly webhook: Omit<StoredWebhook, "scope">;
  readonly scope: ScopeRef;
  readonly position: number;
  /** The node that sends the deliveries of the webhook; null if no node does. */
  readonly holder: string | null;
}

export const webhooks = table<KeptWebhook>()("webhook", ({ webhook }) => [webhook.id], {
  byScope: { keys: ({ webhook, scope }) => [[scope.pid, webhook.id]], group: 1 },
  byAccount: { keys: ({ webhook, scope }) => [[scope.account, webhook.createdAt, webhook.id]], group: 1 },
  byTime: { keys: ({ webhook }) => [[webhook.createdAt, webhook.id]] },
  byHolder: { keys: ({ webhook, holder }) => [[holder ?? "", webhook.id]] },
});

export const storedWebhook = Effect.fnUntraced(function* (tx: Transaction, { webhook, scope }: KeptWebhook) {
  return { ...webhook, scope: yield* withScope(tx, scope) } satisfies StoredWebhook;
});

export interface KeptDelivery {
  readonly webhook: WebhookId;
  readonly delivery: StoredDelivery;
}

const isPending = ({ delivery: { status } }: KeptDelivery) => status === "failing" || status === "waiting";

const whenPending = (kept: KeptDelivery, ...keys: ReadonlyArray<Tuple>) => (isPending(kept) ? keys : []);

export const deliveries = table<KeptDelivery>()(
  "delivery",
  ({ webhook, delivery }) => [webhook, delivery.eventId],
  {
    /** Those that were tried, by status and all. */
    tried: {
      keys: ({ webhook, delivery: { status, eventId } }) =>
        status === "waiting"
          ? []
          : [
              [webhook, status, eventId],
              [webhook, "any", eventId],
            ],
    },
    /** Those that are neither delivered nor given up. */
    pending: {
      keys: (kept) => whenPending(kept, [kept.webhook, kept.delivery.at, kept.delivery.eventId]),
    },
    due: {
      keys: (kept) => {
        const { nextAttemptAt, eventId } = kept.delivery;
        return nextAttemptAt === null ? [] : [[kept.webhook, nextAttemptAt, eventId]];
      },
      group: 1,
    },
    /** Those that are pending in each lane, in the order of the feed. */
    lanes: {
      keys: (kept) =>
        whenPending(
          kept,
          ...kept.delivery.lanes.map((lane) => [
            kept.webhook,
            lane,
            kept.delivery.position ?? 0,
            kept.delivery.eventId,
          ]),
        ),
      group: 1,
    },
    byTime: { keys: ({ webhook, delivery }) => [[delivery.at, webhook, delivery.eventId]] },
  },
  1,
);

/** Makes the first delivery of each lane due, if it waits and is the first in all of its lanes. */
export const freeLanes = Effect.fnUntraced(function* (
  tx: Transaction,
  webhook: WebhookId,
  lanes: ReadonlyArray<string>,
  at: number,
) {
  const firstOf = (lane: string) =>
    Effect.map(tx.list(deliveries.lanes, [webhook, lane], { limit: 1 }), ([first]) => first?.delivery);
  for (const lane of lanes) {
    const first = yield* firstOf(lane);
    if (first === undefined || first.nextAttemptAt !== null) continue;
    const others = yield* Effect.forEach(first.lanes, firstOf);
    if (!others.every((other) => other?.eventId === first.eventId)) continue;
    yield* tx.put(deliveries, { webhook, delivery: { ...first, nextAttemptAt: at } });
  }
});

import { Effect, Option, Semaphore } from "effect";
import type { WriteOrigin } from "../../audit/audit.ts";
import { BadRequest, Conflict } from "../../errors.ts";
import { shownDelivery } from "../sent_delivery.ts";
import type { StoredWebhook } from "../webhook.ts";
import { type StoredDelivery, WebhookStore } from "../webhook_store.ts";
import { isGone, makeAttempt, type SentEvent } from "./attempt.ts";

/**
 * How many tests of an account may run at the same time in one process. There is a limit because a test may take ten
 * seconds.
 */
const askedAtOnce = 3;

/** Sends single events that somebody asked for. */
export const makeRequestedSend = Effect.gen(function* () {
  const store = yield* WebhookStore;
  const attempt = yield* makeAttempt;

  /** Sends an event once, and stores the result. */
  const send = Effect.fnUntraced(function* (
    webhook: StoredWebhook,
    event: SentEvent,
    delivery: StoredDelivery,
    origin: WriteOrigin,
  ) {
    const { id } = webhook;
    const result = yield* attempt(webhook, event);
    const recorded = Option.getOrNull(yield* store.recordRequested({ id, delivery, ...result }));
    if (recorded === null) return yield* new BadRequest({ problem: "not_found" });
    if (isGone(result) && webhook.status !== "disabled") {
      yield* store.update({ ...origin, id, at: result.endedAt, change: { disabledReason: "gone" } });
    }
    return shownDelivery(recorded);
  });

  /** Limits the deliveries in flight that people asked for, by account. */
  const limits = new Map<string, Semaphore.Semaphore>();

  /** Fails with a `test_limit` `Conflict` while three of the account are in flight. */
  return Effect.fnUntraced(function* (
    webhook: StoredWebhook,
    event: SentEvent,
    delivery: StoredDelivery,
    origin: WriteOrigin,
  ) {
    const { account } = webhook.scope;
    const limit = limits.get(account) ?? Semaphore.makeUnsafe(askedAtOnce);
    limits.set(account, limit);
    const sent = yield* limit.withPermitsIfAvailable(1)(send(webhook, event, delivery, origin));
    return Option.isSome(sent) ? sent.value : yield* new Conflict({ reason: "test_limit" });
  });
});

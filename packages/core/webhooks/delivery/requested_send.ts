import { Effect, Option } from "effect";
import type { WriteOrigin } from "../../audit/audit.ts";
import { BadRequest, Conflict, StoreUnavailable } from "../../errors.ts";
import { StorageUse } from "../../storage_use.ts";
import { Turns } from "../../turns/mod.ts";
import { shownDelivery } from "../sent_delivery.ts";
import type { StoredDelivery, StoredWebhook } from "../webhook.ts";
import { WebhookStore } from "../webhook_store.ts";
import { isGone, makeAttempt, type SentEvent } from "./attempt.ts";

/**
 * How many tests of an account may run at the same time in one process. There is a limit because a test may take ten
 * seconds.
 */
const askedAtOnce = 3;

const actsOnNobody = { message: "it acts on nobody, expected accountlink resume before" };

/** Sends single events that somebody asked for. */
export const makeRequestedSend = Effect.gen(function* () {
  const store = yield* WebhookStore;
  const attempt = yield* makeAttempt;
  const { resting } = yield* StorageUse;

  /** Sends an event once, and stores the result. */
  const send = Effect.fnUntraced(function* (
    webhook: StoredWebhook,
    event: SentEvent,
    delivery: StoredDelivery,
    origin: WriteOrigin,
  ) {
    const { id } = webhook;
    if (resting() !== null)
      return yield* new StoreUnavailable({ operation: "Webhooks.send", cause: actsOnNobody, isLogged: true });
    const result = yield* attempt(webhook, event);
    const recorded = Option.getOrNull(yield* store.recordRequested({ id, delivery, ...result }));
    if (recorded === null) return yield* new BadRequest({ problem: "not_found" });
    if (isGone(result) && webhook.status !== "disabled") {
      yield* store.update({ ...origin, id, at: result.endedAt, change: { disabledReason: "gone" } });
    }
    return shownDelivery(recorded);
  });

  const turns = new Turns({ resource: "webhooks", share: askedAtOnce });

  /** Fails with a `test_limit` `Conflict` while three of the account are in flight. */
  return (webhook: StoredWebhook, event: SentEvent, delivery: StoredDelivery, origin: WriteOrigin) =>
    Effect.catchTag(
      turns.stepWithin(webhook.scope.account, 0, send(webhook, event, delivery, origin)),
      "TurnRefused",
      () => new Conflict({ reason: "test_limit" }),
    );
});

import { deliveryStatuses, isEventId, type WebhookDelivery, Webhooks } from "@accountlink/core/webhooks";
import { Effect, Option } from "effect";
import { Argument, Flag } from "effect/cli";
import { accountFlag, limitFlag, textFlag } from "../../cli/flags.ts";
import { answer } from "../../cli/output.ts";
import { AlreadyReported, CommandFailed } from "../../cli/report.ts";
import { answerSecret, answerWithLocation, describe, group, managed, operatorOrigin } from "../command.ts";
import { deliveryJson, deliveryTable, webhookJson, webhookTable } from "./webhook_output.ts";
import { createWebhookCommand, failed, updateWebhookCommand, webhookArgument } from "./webhook_settings.ts";

const listFlags = {
  account: accountFlag.pipe(Flag.withDescription("Only the webhooks of this account"), Flag.optional),
};

const listWebhooksCommand = managed("list", listFlags, function* ({ account }) {
  const webhooks = yield* (yield* Webhooks).list(Option.getOrNull(account));
  yield* answer({ webhooks: webhooks.map(webhookJson) }, webhookTable(webhooks));
}).pipe(describe("List webhooks, oldest first, without their secrets."));

const deleteWebhookCommand = managed("delete", { id: webhookArgument }, function* ({ id }) {
  const webhooks = yield* Webhooks;
  yield* Effect.catchTag(webhooks.remove(null, id, operatorOrigin()), "BadRequest", failed(`delete ${id}`));
  yield* answerWithLocation({ id, deleted: true }, `Deleted ${id}`);
}).pipe(describe("Delete a webhook and the list of its deliveries."));

/** Prints what became of an attempt, and fails unless it was delivered. */
const answerAttempt = Effect.fnUntraced(function* (id: string, what: string, delivery: WebhookDelivery) {
  const { error, responseStatus, status } = delivery;
  const result = responseStatus === null ? `failed (${error})` : `was answered ${responseStatus}`;
  yield* answer({ id, delivery: deliveryJson(delivery) }, `${what} ${result}`);
  if (status !== "delivered") return yield* new AlreadyReported();
});

const testWebhookCommand = managed("test", { id: webhookArgument }, function* ({ id }) {
  const webhooks = yield* Webhooks;
  const tested = webhooks.test(null, id, operatorOrigin());
  const delivery = yield* Effect.catchTag(tested, ["BadRequest", "Conflict"], failed(`test ${id}`));
  yield* answerAttempt(id, `The test of ${id}`, delivery);
}).pipe(describe("Send an event of type test to a webhook, from this machine, and print the result."));

const rotateWebhookCommand = managed("rotate", { id: webhookArgument }, function* ({ id }) {
  const rotated = (yield* Webhooks).rotate(null, id, operatorOrigin());
  const { secret, webhook } = yield* Effect.catchTag(rotated, "BadRequest", failed(`rotate ${id}`));
  yield* answerSecret(
    { ...webhookJson(webhook), secret },
    secret,
    `This is the new secret of ${id}, shown this once`,
    " The previous secret also signs for 24 hours.",
  );
}).pipe(describe("Give a webhook a new secret. For 24 hours deliveries have both signatures."));

const resendFlags = {
  id: webhookArgument,
  event: Argument.String("event").pipe(
    Argument.withDescription("Id of the event, as webhooks deliveries shows it"),
  ),
};

const resendCommand = managed("resend", resendFlags, function* ({ id, event }) {
  const resent = (yield* Webhooks).resend(null, id, event, operatorOrigin());
  const problem = `Cannot resend ${event}: ${id} has no such delivery`;
  const delivery = yield* Effect.catchTag(resent, "BadRequest", () => new CommandFailed({ problem }));
  yield* answerAttempt(id, event, delivery);
}).pipe(describe("Send an event to a webhook again, from this machine, and print the result."));

const sendPendingCommand = managed("send-pending", { id: webhookArgument }, function* ({ id }) {
  const sent = (yield* Webhooks).sendPending(null, id);
  const webhook = yield* Effect.catchTag(sent, "BadRequest", failed(`send what waits at ${id}`));
  yield* answerWithLocation(webhookJson(webhook), `Sending the waiting events of ${id}`);
}).pipe(
  describe("Send the waiting events of an active webhook now. A running server does it within a second."),
);

const deliveryFlags = {
  id: webhookArgument,
  status: Flag.Literals("status", deliveryStatuses).pipe(
    Flag.withDescription("Only deliveries of this status"),
    Flag.optional,
  ),
  limit: limitFlag("Deliveries"),
  cursor: textFlag("cursor", isEventId, "an event as webhooks deliveries shows it").pipe(
    Flag.withMetavar("event"),
    Flag.withDescription("Only deliveries before this event"),
    Flag.optional,
  ),
};

const listDeliveriesCommand = managed("deliveries", deliveryFlags, function* ({ id, status, limit, cursor }) {
  const filter = { status: Option.getOrNull(status), before: Option.getOrNull(cursor), limit };
  const listed = (yield* Webhooks).deliveries(null, id, filter);
  const refused = failed(`list the deliveries of ${id}`);
  const { deliveries, next } = yield* Effect.catchTag(listed, "BadRequest", refused);
  yield* answer({ deliveries: deliveries.map(deliveryJson), next }, deliveryTable(deliveries));
}).pipe(
  describe("List the delivery of each event of a webhook, newest first, for as long as events are kept."),
);

export const webhooksCommand = group(
  "webhooks",
  "Manage webhooks, also next to a running server, which applies every change within a second.",
  [
    listWebhooksCommand,
    createWebhookCommand,
    updateWebhookCommand,
    deleteWebhookCommand,
    rotateWebhookCommand,
    testWebhookCommand,
    listDeliveriesCommand,
    resendCommand,
    sendPendingCommand,
  ],
);

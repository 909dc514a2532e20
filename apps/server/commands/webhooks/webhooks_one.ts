import { type WebhookDelivery, Webhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { Argument, Command } from "effect/cli";
import { answer } from "../../cli/output.ts";
import { CommandFailed } from "../../cli/report.ts";
import { answerSecret, answerWithLocation, managementLayer } from "../management_layer.ts";
import { operatorOrigin } from "../operator_origin.ts";
import { failed, webhookArgument } from "./webhook_flags.ts";
import { deliveryJson, webhookJson } from "./webhook_output.ts";

export const deleteWebhookCommand = Command.make("delete", { id: webhookArgument }, ({ id }) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks;
    yield* Effect.catchTag(webhooks.remove(null, id, operatorOrigin()), "BadRequest", failed(`delete ${id}`));
    yield* answerWithLocation({ id, deleted: true }, (location) => `Deleted ${id} in ${location}`);
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(Command.withDescription("Delete a webhook and the list of its deliveries."));

const resultOf = ({ error, responseStatus }: WebhookDelivery): string =>
  responseStatus === null ? `failed (${error})` : `was answered ${responseStatus}`;

export const testWebhookCommand = Command.make("test", { id: webhookArgument }, ({ id }) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks;
    const tested = webhooks.test(null, id, operatorOrigin());
    const delivery = yield* Effect.catchTag(tested, ["BadRequest", "Conflict"], failed(`test ${id}`));
    yield* answer({ id, delivery: deliveryJson(delivery) }, `The test of ${id} ${resultOf(delivery)}`);
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    "Send an event of type test to a webhook, from this machine, and print the result.",
  ),
);

export const rotateWebhookCommand = Command.make("rotate", { id: webhookArgument }, ({ id }) =>
  Effect.gen(function* () {
    const rotated = (yield* Webhooks).rotate(null, id, operatorOrigin());
    const { secret, webhook } = yield* Effect.catchTag(rotated, "BadRequest", failed(`rotate ${id}`));
    yield* answerSecret(
      { ...webhookJson(webhook), secret },
      secret,
      (location) =>
        `This is the new secret of ${id}, shown this once, in ${location}. The previous secret also signs for 24 hours.`,
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription("Give a webhook a new secret. For 24 hours deliveries have both signatures."),
  Command.withShortDescription("Give a webhook a new secret"),
);

const resendFlags = {
  id: webhookArgument,
  event: Argument.String("event").pipe(
    Argument.withDescription("Id of the event, as webhooks deliveries shows it"),
  ),
};

export const resendCommand = Command.make("resend", resendFlags, ({ id, event }) =>
  Effect.gen(function* () {
    const resent = (yield* Webhooks).resend(null, id, event, operatorOrigin());
    const problem = `Cannot resend ${event}: ${id} has no such delivery`;
    const delivery = yield* Effect.catchTag(resent, "BadRequest", () => new CommandFailed({ problem }));
    yield* answer({ id, delivery: deliveryJson(delivery) }, `${event} ${resultOf(delivery)}`);
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription("Send an event to a webhook again, from this machine, and print the result."),
  Command.withShortDescription("Send an event to a webhook again"),
);

export const sendPendingCommand = Command.make("send-pending", { id: webhookArgument }, ({ id }) =>
  Effect.gen(function* () {
    const sent = (yield* Webhooks).sendPending(null, id);
    const webhook = yield* Effect.catchTag(sent, "BadRequest", failed(`send what waits at ${id}`));
    yield* answerWithLocation(
      webhookJson(webhook),
      (location) => `Sending the waiting events of ${id} in ${location}`,
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    "Send the waiting events of an active webhook now. A running server does it within a second.",
  ),
  Command.withShortDescription("Send the waiting events of a webhook now"),
);

import { Webhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { answer } from "../../cli/output.ts";
import { answerWithLocation, managementLayer } from "../management_layer.ts";
import { operatorOrigin } from "../operator_origin.ts";
import { failed, webhookArgument } from "./webhook_flags.ts";
import { deliveryJson } from "./webhook_output.ts";

export const deleteWebhookCommand = Command.make("delete", { id: webhookArgument }, ({ id }) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks;
    yield* Effect.catchTag(webhooks.remove(null, id, operatorOrigin()), "BadRequest", failed(`delete ${id}`));
    yield* answerWithLocation({ id, deleted: true }, (location) => `Deleted ${id} in ${location}`);
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(Command.withDescription("Delete a webhook and the list of its deliveries."));

export const testWebhookCommand = Command.make("test", { id: webhookArgument }, ({ id }) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks;
    const tested = webhooks.test(null, id, operatorOrigin());
    const delivery = yield* Effect.catchTag(tested, "BadRequest", failed(`test ${id}`));
    const { error, responseStatus } = delivery;
    const result = responseStatus === null ? `failed (${error})` : `was answered ${responseStatus}`;
    yield* answer({ id, delivery: deliveryJson(delivery) }, `The test of ${id} ${result}`);
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    "Send an event of type test to a webhook, from this machine, and say what came of it.",
  ),
);

import { Webhooks } from "@accountlink/core/webhooks";
import { Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { countFlag } from "../../cli/flags.ts";
import { answer } from "../../cli/output.ts";
import { managementLayer } from "../management_layer.ts";
import { failed, webhookArgument } from "./webhook_flags.ts";
import { deliveryJson, deliveryTable } from "./webhook_output.ts";

const flags = {
  id: webhookArgument,
  status: Flag.Literals("status", ["delivered", "failing", "given_up"]).pipe(
    Flag.withDescription("Only deliveries of this status"),
    Flag.optional,
  ),
  limit: countFlag("limit").pipe(
    Flag.withDescription("Maximum number of deliveries (default: 50)"),
    Flag.withDefault(50),
  ),
  cursor: Flag.String("cursor").pipe(
    Flag.withMetavar("event"),
    Flag.withDescription("Only deliveries before this event"),
    Flag.optional,
  ),
};

export const listDeliveriesCommand = Command.make("deliveries", flags, ({ id, status, limit, cursor }) =>
  Effect.gen(function* () {
    const filter = { status: Option.getOrNull(status), before: Option.getOrNull(cursor), limit };
    const listed = (yield* Webhooks).deliveries(null, id, filter);
    const { deliveries, next } = yield* Effect.catchTag(
      listed,
      "BadRequest",
      failed(`list the deliveries of ${id}`),
    );
    yield* answer(
      { deliveries: deliveries.map(deliveryJson), next },
      deliveries.length === 0 ? "There are no deliveries" : deliveryTable(deliveries),
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription(
    "List the delivery of each event of a webhook, newest first, for as long as events are kept.",
  ),
  Command.withShortDescription("List the deliveries of a webhook"),
);

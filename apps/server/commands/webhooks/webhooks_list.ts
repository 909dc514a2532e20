import { Webhooks } from "@accountlink/core/webhooks";
import { Effect, Option } from "effect";
import { Command, Flag } from "effect/cli";
import { accountFlag } from "../../cli/flags.ts";
import { answer } from "../../cli/output.ts";
import { managementLayer } from "../management_layer.ts";
import { webhookJson, webhookTable } from "./webhook_output.ts";

const flags = {
  account: accountFlag.pipe(Flag.withDescription("Only the webhooks of this account"), Flag.optional),
};

export const listWebhooksCommand = Command.make("list", flags, ({ account }) =>
  Effect.gen(function* () {
    const webhooks = yield* (yield* Webhooks).list(Option.getOrNull(account));
    yield* answer(
      { webhooks: webhooks.map(webhookJson) },
      webhooks.length === 0 ? "There are no webhooks" : webhookTable(webhooks),
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(Command.withDescription("List webhooks, oldest first, without their secrets."));

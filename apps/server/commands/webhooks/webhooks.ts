import { Command } from "effect/cli";
import { Json } from "../../cli/output.ts";
import { createWebhookCommand } from "./webhooks_create.ts";
import { listDeliveriesCommand } from "./webhooks_deliveries.ts";
import { listWebhooksCommand } from "./webhooks_list.ts";
import {
  deleteWebhookCommand,
  resendCommand,
  rotateWebhookCommand,
  sendPendingCommand,
  testWebhookCommand,
} from "./webhooks_one.ts";
import { updateWebhookCommand } from "./webhooks_update.ts";

export const webhooksCommand = Command.make("webhooks").pipe(
  Command.withDescription(
    "Manage webhooks, also next to a running server, which applies every change within a second.",
  ),
  Command.withShortDescription("Manage webhooks"),
  Command.withSubcommands([
    listWebhooksCommand,
    createWebhookCommand,
    updateWebhookCommand,
    deleteWebhookCommand,
    rotateWebhookCommand,
    testWebhookCommand,
    listDeliveriesCommand,
    resendCommand,
    sendPendingCommand,
  ]),
  Command.withGlobalFlags([Json]),
);

/**
 * Dashboard routes for the webhooks of an account, and their deliveries.
 *
 * @example
 * ```ts
 * const ofOne = [DashboardWebhooks.patchWebhook, DashboardWebhooks.deleteWebhook, DashboardWebhooks.rotateWebhook];
 * const all = [DashboardWebhooks.getWebhooks, DashboardWebhooks.createWebhook, ...ofOne];
 * const again = [DashboardWebhooks.resendDelivery, DashboardWebhooks.sendPendingDeliveries];
 * const sending = [DashboardWebhooks.testWebhook, ...again];
 * new Set([...all, ...sending].map(pathTemplate)).has("/dashboard/api/webhooks/{id}/test"); // true
 * Object.keys(DashboardWebhooks.getDeliveries.parameters); // ["id", "limit", "cursor", "status"]
 * ```
 */
import { eventTypes } from "@accountlink/core/events";
import { GuildId, Pid } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { guildId } from "../parameter.ts";
import {
  deliveryCursor,
  deliveryStatus,
  eventInPath,
  keyScope,
  pageLimit,
  unlessLeftOut,
  webhookDescription,
  webhookInPath,
  webhookStatus,
  webhookTypes,
  webhookUrl,
} from "./parameters.ts";
import { signedIn } from "./signed_in.ts";

const Webhook = Schema.Struct({
  id: Schema.String,
  url: Schema.String,
  scope: Schema.Literals(["global", "guild"]),
  guildId: Schema.NullOr(GuildId),
  pid: Pid,
  types: Schema.Array(Schema.Literals(eventTypes)),
  description: Schema.String,
  status: Schema.Literals(["active", "paused", "disabled"]),
  disabledReason: Schema.NullOr(Schema.Literals(["gone", "failing"])),
  createdAt: IsoTime,
  lastDeliveredAt: Schema.NullOr(IsoTime),
  failingSince: Schema.NullOr(IsoTime),
  pending: Schema.Int,
}).annotate({ identifier: "Webhook" });

const Delivery = Schema.Struct({
  eventId: Schema.String,
  type: Schema.Literals([...eventTypes, "test"]),
  at: IsoTime,
  attempts: Schema.Int,
  status: Schema.Literals(["delivered", "failing", "given_up"]),
  responseStatus: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(
    Schema.Literals(["status", "timeout", "name", "address", "certificate", "connection"]),
  ),
  nextAttemptAt: Schema.NullOr(IsoTime),
}).annotate({ identifier: "WebhookDelivery" });

const IssuedWebhook = { secret: Schema.String, webhook: Webhook };

export const getWebhooks = signedIn("admin", "GET", "/webhooks", {
  id: "getWebhooks",
  summary: "The webhooks of the account, oldest first",
  parameters: {},
  data: { webhooks: Schema.Array(Webhook) },
});

export const createWebhook = signedIn("admin", "POST", "/webhooks", {
  id: "createWebhook",
  summary: "Create a webhook; only this response shows its secret",
  parameters: {
    url: webhookUrl,
    scope: keyScope,
    guildId: guildId(),
    types: unlessLeftOut(webhookTypes),
    description: unlessLeftOut(webhookDescription),
  },
  status: 201,
  data: IssuedWebhook,
  errors: ["CONFLICT"],
});

export const patchWebhook = signedIn("admin", "PATCH", "/webhooks/:id", {
  id: "patchWebhook",
  summary: "Change a webhook; setting a disabled one to active resumes its events",
  parameters: {
    id: webhookInPath,
    url: unlessLeftOut(webhookUrl),
    types: unlessLeftOut(webhookTypes),
    description: unlessLeftOut(webhookDescription),
    status: unlessLeftOut(webhookStatus),
  },
  data: { webhook: Webhook },
});

export const deleteWebhook = signedIn("admin", "DELETE", "/webhooks/:id", {
  id: "deleteWebhook",
  summary: "Delete a webhook and its deliveries",
  parameters: { id: webhookInPath },
  data: { deleted: Schema.Literal(true) },
});

export const rotateWebhook = signedIn("admin", "POST", "/webhooks/:id/rotate", {
  id: "rotateWebhook",
  summary: "Give a webhook a new secret; the previous one also signs for 24 hours",
  parameters: { id: webhookInPath },
  data: IssuedWebhook,
});

export const testWebhook = signedIn("admin", "POST", "/webhooks/:id/test", {
  id: "testWebhook",
  summary: "Send an event of type test now",
  parameters: { id: webhookInPath },
  data: { delivery: Delivery },
  errors: ["CONFLICT"],
});

export const sendPendingDeliveries = signedIn("admin", "POST", "/webhooks/:id/send-pending", {
  id: "sendPendingDeliveries",
  summary: "Send waiting events now instead of at their next attempt, if the webhook is active",
  parameters: { id: webhookInPath },
  data: { webhook: Webhook },
});

export const getDeliveries = signedIn("admin", "GET", "/webhooks/:id/deliveries", {
  id: "getDeliveries",
  summary: "The delivery status of each stored event, newest first",
  parameters: {
    id: webhookInPath,
    limit: pageLimit,
    cursor: deliveryCursor,
    status: deliveryStatus,
  },
  data: { deliveries: Schema.Array(Delivery), next: Schema.NullOr(Schema.String) },
});

export const resendDelivery = signedIn("admin", "POST", "/webhooks/:id/deliveries/:eventId/resend", {
  id: "resendDelivery",
  summary: "Send an event again now",
  parameters: { id: webhookInPath, eventId: eventInPath },
  data: { delivery: Delivery },
});

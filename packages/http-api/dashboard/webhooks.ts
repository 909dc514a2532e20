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

import { guildOf } from "@accountlink/core";
import { type EventType, eventTypes } from "@accountlink/core/events";
import { GuildId, Pid } from "@accountlink/core/ids";
import { nameText } from "@accountlink/core/name_text";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import {
  deliveryErrors,
  deliveryStatuses,
  longestDescription,
  type WebhookDelivery,
  type WebhookDetails,
} from "@accountlink/core/webhooks";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import { guildId, inPath, oneOf, optional, required } from "../parameter.ts";
import { demoGuild, keyScope, nextOf, orNull, pageLimit, signedIn, unlessLeftOut } from "./signed_in.ts";

/** A webhook ID in a path. Any text is accepted: a malformed ID counts as an unknown webhook. */
const webhookInPath = inPath(required(Schema.String, "expected the id of a webhook", "Id of the webhook"));

/** An event ID in a path. Any text is accepted: a malformed ID counts as an unknown event. */
const eventInPath = inPath(required(Schema.String, "expected the id of an event", "Id of the event"));

/** The URL that receives events. The service checks the form of the URL and the IP address of its host. */
const webhookUrl = required(
  Schema.String,
  "expected an absolute https URL",
  "Absolute https URL of at most 2,000 characters",
);

/** The fields that a client may leave out. */
const choices = {
  types: unlessLeftOut(
    required(
      Schema.Array(Schema.Literals(eventTypes)),
      `expected a list of ${eventTypes.join(", ")}`,
      "Types of the events to send; empty for all",
    ),
  ),
  description: unlessLeftOut(
    orNull(
      Schema.String.check(Schema.isMaxCodePoints(longestDescription), nameText),
      `expected at most ${longestDescription} characters, no control characters or direction overrides`,
      "What the webhook is for; null for no description",
    ),
  ),
};

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
  pending: Schema.Int.annotate({ description: "Events that wait; 1001 if more than 1,000 do" }),
}).annotate({ identifier: "Webhook" });

const Delivery = Schema.Struct({
  eventId: Schema.String,
  type: Schema.Literals([...eventTypes, "test"]),
  at: IsoTime,
  attempts: Schema.Int,
  status: Schema.Literals(deliveryStatuses),
  responseStatus: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.Literals(deliveryErrors)),
  nextAttemptAt: Schema.NullOr(IsoTime),
}).annotate({ identifier: "WebhookDelivery" });

/** A webhook in the form of the contract. @internal */
export const webhookJson = ({ id, url, scope, ...webhook }: WebhookDetails) => ({
  id,
  url,
  scope: scope.kind,
  guildId: guildOf(scope),
  pid: scope.pid,
  types: webhook.types as ReadonlyArray<EventType>,
  description: webhook.description,
  status: webhook.status,
  disabledReason: webhook.disabledReason,
  createdAt: formatTimestamp(webhook.createdAt),
  lastDeliveredAt: timeOrNull(webhook.lastDeliveredAt),
  failingSince: timeOrNull(webhook.failingSince),
  pending: webhook.pending,
});

/** A delivery in the form of the contract. @internal */
export const deliveryJson = (delivery: WebhookDelivery) => ({
  eventId: delivery.eventId,
  type: delivery.type as EventType | "test",
  at: formatTimestamp(delivery.at),
  attempts: delivery.attempts,
  status: delivery.status,
  responseStatus: delivery.responseStatus,
  error: delivery.error,
  nextAttemptAt: timeOrNull(delivery.nextAttemptAt),
});

const IssuedWebhook = { secret: Schema.String, webhook: Webhook };

export const getWebhooks = signedIn("admin_of_all", "GET", "/webhooks", {
  id: "getWebhooks",
  summary: "The webhooks of the account, oldest first",
  parameters: {},
  data: { webhooks: Schema.Array(Webhook) },
});

export const createWebhook = signedIn("admin_of_all", "POST", "/webhooks", {
  id: "createWebhook",
  summary: "Create a webhook; only this response shows its secret",
  parameters: { url: webhookUrl, scope: keyScope, guildId: guildId(), ...choices },
  status: 201,
  example: { url: "https://chess.example/hooks", scope: "guild", ...demoGuild, types: ["link.set"] },
  data: IssuedWebhook,
  refuses: ["bot_not_in_guild", "not_guild_manager", "platform_refusals", "webhook_limit"],
});

export const patchWebhook = signedIn("admin_of_all", "PATCH", "/webhooks/:id", {
  id: "patchWebhook",
  summary: "Change a webhook; setting a disabled one to active resumes its events",
  parameters: {
    id: webhookInPath,
    url: unlessLeftOut(webhookUrl),
    ...choices,
    status: unlessLeftOut(
      oneOf(["active", "paused"], "Whether events are sent; a paused webhook stores them"),
    ),
  },
  example: { status: "paused" },
  data: { webhook: Webhook },
});

export const deleteWebhook = signedIn("admin_of_all", "DELETE", "/webhooks/:id", {
  id: "deleteWebhook",
  summary: "Delete a webhook and its deliveries",
  parameters: { id: webhookInPath },
  data: { deleted: Schema.Literal(true) },
});

export const rotateWebhook = signedIn("admin_of_all", "POST", "/webhooks/:id/rotate", {
  id: "rotateWebhook",
  summary: "Give a webhook a new secret; the previous one also signs for 24 hours",
  parameters: { id: webhookInPath },
  data: IssuedWebhook,
});

export const testWebhook = signedIn("admin_of_all", "POST", "/webhooks/:id/test", {
  id: "testWebhook",
  summary: "Send an event of type test now",
  parameters: { id: webhookInPath },
  data: { delivery: Delivery },
  refuses: ["test_limit"],
});

export const sendPendingDeliveries = signedIn("admin_of_all", "POST", "/webhooks/:id/send-pending", {
  id: "sendPendingDeliveries",
  summary: "Send waiting events now instead of at their next attempt, if the webhook is active",
  parameters: { id: webhookInPath },
  data: { webhook: Webhook },
});

export const getDeliveries = signedIn("admin_of_all", "GET", "/webhooks/:id/deliveries", {
  id: "getDeliveries",
  summary: "The delivery status of each stored event, newest first",
  parameters: {
    id: webhookInPath,
    limit: pageLimit,
    cursor: nextOf(Schema.String.check(Schema.isPattern(/^evt_[0-9A-Z]{26}$/u))),
    status: optional(oneOf(deliveryStatuses, "Only deliveries of this status")),
  },
  data: { deliveries: Schema.Array(Delivery), next: Schema.NullOr(Schema.String) },
});

export const resendDelivery = signedIn("admin_of_all", "POST", "/webhooks/:id/deliveries/:eventId/resend", {
  id: "resendDelivery",
  summary: "Send an event again now",
  parameters: { id: webhookInPath, eventId: eventInPath },
  data: { delivery: Delivery },
  refuses: ["test_limit"],
});

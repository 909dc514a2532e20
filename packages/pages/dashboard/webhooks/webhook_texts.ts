import { type EventType, eventTypes } from "@accountlink/core/events";
import {
  type DeliveryError,
  mostPending,
  type Webhook,
  type WebhookDelivery,
  type WebhookDetails,
} from "@accountlink/core/webhooks";
import { numberText } from "../../english_counts.ts";
import { type Html, html } from "../../html.ts";

const events: Record<EventType, string> = {
  "link.set": "A user was linked, or linked to another account",
  "link.moved": "A link moved to another user",
  "link.removed": "A link was removed",
  "links.imported": "Links were imported",
  "scope.deleted": "All links were deleted",
  "user.erased": "A user erased their data",
  "session.completed": "A verification was completed",
  "session.failed": "A verification failed",
  "session.cancelled": "A verification was cancelled",
};

export const eventChoices = eventTypes.map((type) => ({ value: type, label: `${events[type]} (${type})` }));

const states = {
  active: { label: "Active", tone: "good" },
  failing: { label: "Failing", tone: "warn" },
  paused: { label: "Paused", tone: "warn" },
  disabled: { label: "Disabled", tone: "bad" },
} as const;

export const webhookStateHtml = ({ status, failingSince }: Webhook): Html => {
  const { label, tone } = states[status === "active" && failingSince !== null ? "failing" : status];
  return html`<span class="badge ${tone}">${label}</span>`;
};

export const typesText = ({ types }: Webhook): string => (types.length === 0 ? "All" : types.join(", "));

export const disabledText = ({ disabledReason }: Pick<WebhookDetails, "disabledReason">): string =>
  disabledReason === "gone"
    ? "Your server answered 410 (Gone), which asks for no more events. Nothing is sent until you activate the webhook again."
    : "Every delivery failed for five days. Nothing is sent until you activate the webhook again. Events that are still kept are sent then.";

const errors: Record<Exclude<DeliveryError, "status">, string> = {
  timeout: "No answer within 10 seconds",
  name: "The host name has no address",
  address: "The address is not public. ACCOUNTLINK_WEBHOOK_NETWORKS of the server can allow it",
  certificate: "The certificate of the server is not valid",
  connection: "The connection failed",
};

const results = {
  delivered: { label: "Delivered", tone: "good" },
  failing: { label: "Failing", tone: "warn" },
  given_up: { label: "Given up", tone: "bad" },
} as const;

export const resultHtml = ({ status, responseStatus, error }: WebhookDelivery): Html => {
  const { label, tone } = results[status];
  const problem = error === null || error === "status" ? "" : errors[error];
  const answer = responseStatus === null ? problem : `Answered ${responseStatus}`;
  return html`<span class="badge ${tone}">${label}</span> <small>${answer}</small>`;
};

/** Says how many events wait. They are counted up to `mostPending`. */
export const pendingText = ({ pending }: Pick<WebhookDetails, "pending">): string =>
  pending > mostPending ? `more than ${numberText(mostPending)}` : numberText(pending);

/** The journal with its positions, and the webhooks that read it. */
import type { Row } from "@accountlink/core";
import { signedBy } from "@accountlink/core/audit";
import { usersIn } from "@accountlink/core/journal";
import { accountPlace, places as feeds, journal, pidOf } from "../stores/journal.ts";
import { deliveries, webhooks } from "../stores/webhooks.ts";
import { at, type Places, scopeRef } from "./places.ts";
import { type Unit, unit } from "./unit.ts";

const prefix = "account ";

/** The place of a row names its account by name, the place of a record by number. */
const placeOfRow = ({ place }: Row, { accounts }: Places): string => {
  const text = String(place);
  return text.startsWith(prefix) ? accountPlace(at(accounts, text.slice(prefix.length)).id) : text;
};

const placeOfRecord = (place: string, { accountsById }: Places): string =>
  pidOf(place) === null ? `${prefix}${at(accountsById, Number(place.slice(prefix.length))).name}` : place;

export const journalUnits: ReadonlyArray<Unit> = [
  unit({
    records: journal,
    relation: "journal",
    columns: {
      sequence: "sequence",
      at: "at",
      action: "action",
      request_id: "requestId",
      details: ["json", "details"],
    },
    fields: (row, _, places) => {
      const { event_id: id, fields, actor_type: type, actor_id: actorId, member } = row;
      return {
        place: placeOfRow(row, places),
        actor: type === null ? null : { type, id: actorId, ...(type === "account" && { member }) },
        event: id === null ? null : { id, fields: JSON.parse(String(fields)) },
      };
    },
    row: (record, places) => {
      const { actor, event, place } = record;
      const [chatId = null, otherChatId = null] = usersIn(record);
      return {
        place: placeOfRecord(place, places),
        event_id: event?.id ?? null,
        fields: event === null ? null : JSON.stringify(event.fields),
        actor_type: actor?.type ?? null,
        actor_id: actor?.id ?? null,
        member: actor && signedBy({ actor }).member,
        chat_id: chatId,
        other_chat_id: otherChatId,
      };
    },
    // Indexes of what the details say, which earlier releases had for other users.
    uncompared: ["chat_id", "other_chat_id"],
  }),
  unit({
    records: feeds,
    relation: "places",
    columns: {},
    fields: (row, _, places) => ({
      place: placeOfRow(row, places),
      last: row["last"],
      start: row["start"],
      end: row["newest_event"],
      oldestEntry: row["oldest_entry"],
      oldestEvent: row["oldest_event"],
    }),
    partTables: ["feed_starts"],
    rowsOfParts: ({ place, start }) => ({
      feed_starts: start > 0 && pidOf(place) !== null ? [{ pid: place, position: start }] : [],
    }),
  }),
  unit({
    records: webhooks,
    relation: "webhooks",
    columns: {
      id: "webhook.id",
      pid: "scope.pid",
      url: "webhook.url",
      types: ["json", "webhook.types"],
      description: "webhook.description",
      status: "webhook.status",
      disabled_reason: "webhook.disabledReason",
      created_at: "webhook.createdAt",
      last_delivered_at: "webhook.lastDeliveredAt",
      failing_since: "webhook.failingSince",
      secrets: ["json", "webhook.secrets"],
      position: "position",
      holder: "holder",
    },
    fields: ({ pid }, _, places) => ({ scope: scopeRef(places, String(pid)) }),
  }),
  unit({
    records: deliveries,
    relation: "webhook_deliveries",
    columns: {
      webhook_id: "webhook",
      event_id: "delivery.eventId",
      position: "delivery.position",
      type: "delivery.type",
      at: "delivery.at",
      status: "delivery.status",
      attempts: "delivery.attempts",
      resends: "delivery.resends",
      response_status: "delivery.responseStatus",
      error: "delivery.error",
      next_attempt_at: "delivery.nextAttemptAt",
      attempted_at: "delivery.attemptedAt",
      answered_at: "delivery.answeredAt",
      response_type: "delivery.responseType",
    },
    fields: ({ lane, other_lane: other }) => ({
      delivery: { lanes: [lane, other].filter((each) => each !== null) },
    }),
    row: ({ delivery: { lanes } }) => ({ lane: lanes[0] ?? null, other_lane: lanes[1] ?? null }),
  }),
];

/** The journal with its positions of events. */
import type { Row } from "@accountlink/core";
import { signedBy } from "@accountlink/core/audit";
import { usersIn } from "@accountlink/core/journal";
import { accountPlace, places as feeds, journal, pidOf } from "../stores/journal.ts";
import { at, type Places } from "./places.ts";
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
];

/** The journal with its positions of events. */
import type { Row } from "@accountlink/core";
import { signedBy } from "@accountlink/core/audit";
import { usersIn } from "@accountlink/core/journal";
import {
  accountPlace,
  places as feeds,
  journal,
  newPlace,
  notePlace,
  pidOf,
  type StoredRecord,
} from "../stores/journal.ts";
import { at, type Places } from "./places.ts";
import { partUnit, type Unit, unit } from "./unit.ts";

const prefix = "account ";

/** The place of a row names its account by name, the place of a record by number. */
const placeOfRow = ({ place }: Row, { accounts }: Places): string => {
  const text = String(place);
  return text.startsWith(prefix) ? accountPlace(at(accounts, text.slice(prefix.length)).id) : text;
};

const placeOfRecord = (place: string, { accountsById }: Places): string =>
  pidOf(place) === null ? `${prefix}${at(accountsById, Number(place.slice(prefix.length))).name}` : place;

export const journalUnits: ReadonlyArray<Unit> = [
  unit<StoredRecord>({
    records: journal,
    relation: "journal",
    columns: {
      sequence: "sequence",
      at: "at",
      action: "action",
      request_id: "requestId",
      details: ["json", "details"],
    },
    fields: (row, places) => {
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
    also: notePlace,
  }),
  partUnit({
    records: feeds,
    relation: "feed_starts",
    idOf: ({ pid }) => [String(pid)],
    rowsOf: ({ place, start }) =>
      start > 0 && pidOf(place) !== null ? [{ pid: place, position: start }] : [],
    add: (stored, { pid, position }) => {
      const { last, end, ...place } = stored ?? newPlace(String(pid));
      const start = Number(position);
      return { ...place, last: Math.max(last, start), start, end: Math.max(end, start) };
    },
  }),
];

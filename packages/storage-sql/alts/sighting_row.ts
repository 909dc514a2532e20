/** Rows of `sightings`. */
import { ChatId, Pid } from "@accountlink/core";
import { Schema } from "effect";
import { schemaReaderOf } from "../statements/row.ts";

const SightingRow = Schema.Struct({
  pid: Pid,
  chat_id: ChatId,
  address_hash: Schema.String,
  sealed_address: Schema.String,
  address_key_id: Schema.String,
  seen_at: Schema.Int,
});

/** The columns of `readSightings`. */
export const sightingColumns = Object.keys(SightingRow.fields).join(", ");

export const readSightings = schemaReaderOf(
  "sightings",
  SightingRow,
  ({ pid, chat_id, address_hash, sealed_address, address_key_id, seen_at }) => ({
    pid,
    chatId: chat_id,
    address: { hash: address_hash, sealed: sealed_address, addressKeyId: address_key_id },
    seenAt: seen_at,
  }),
);

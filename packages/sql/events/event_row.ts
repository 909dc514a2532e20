/** Rows of `events`, decoded without Schema, since reading a feed decodes many rows per page. */
import { Pid } from "@accountlink/core";
import { type EventType, eventTypes, type FeedEvent } from "@accountlink/core/events";
import type { SqlConnection } from "effect/sql";
import { columnReader, literalSql, readerOf } from "../statements/row.ts";

export const eventColumns = literalSql("position, id, type, at, data");

const types: ReadonlySet<unknown> = new Set<EventType>(eventTypes);

const eventIn = ({ position, id, type, at, data }: SqlConnection.Row): FeedEvent | undefined => {
  if (!Number.isSafeInteger(position) || typeof id !== "string" || !Number.isSafeInteger(at))
    return undefined;
  const parsed = types.has(type) ? objectIn(data) : undefined;
  return parsed === undefined ? undefined : ({ position, id, type, at, data: parsed } as FeedEvent);
};

const objectIn = (text: unknown): object | undefined => {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};

export const readEvents = readerOf("events", eventIn);

export const readPids = columnReader("events", "pid", Pid);

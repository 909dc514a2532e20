/** Appends events, in the transaction of the change. */
import type { Pid } from "@accountlink/core";
import type { NewEvent } from "@accountlink/core/events";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { lastPosition } from "./event_numbering.ts";

/** Inserts events of one scope in order. Where transactions commit in another order, they are numbered later. */
export const insertEventsStatement = (
  sql: SqlClient.SqlClient,
  pid: Pid,
  events: ReadonlyArray<NewEvent>,
) => {
  const { elements, commitsInOrder } = dialectOf(sql);
  const rows = events.map(({ id, type, at, data }) => [id, type, at, JSON.stringify(data)]);
  const position = commitsInOrder ? sql`${lastPosition(sql, pid)} + key + 1` : sql`CAST(NULL AS BIGINT)`;
  return sql`
    INSERT INTO events (pid, position, id, type, at, data)
    SELECT ${pid}, ${position}, value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT), value ->> 3
    FROM ${elements(JSON.stringify(rows))}`;
};

export const insertEvents = (sql: SqlClient.SqlClient, pid: Pid, events: ReadonlyArray<NewEvent>) => {
  if (events.length === 0) return Effect.void;
  return Effect.andThen(
    Effect.sync(() => assertStorable(textsOf(events))),
    insertEventsStatement(sql, pid, events),
  );
};

/** The free text in events. */
const textsOf = (events: ReadonlyArray<NewEvent>): ReadonlyArray<string> =>
  events.flatMap(({ data }) => ("clientId" in data ? [data.clientId] : []));

/** Finds and erases kept answers of requests that name a chat user. */
import type { ChatId } from "@accountlink/core";
import { Clock, Effect, Schema } from "effect";
import { columnReader } from "../statements/row.ts";
import type { Ending, StoreParts } from "../statements/store_operation.ts";

/** How many rows a step reads. */
const rowsOfStep = 2_000;

/** The answers that may name a user: among the rows up to `last`, those with these IDs, as JSON. */
export interface FoundAnswers {
  readonly last: number;
  readonly ids: string;
}

export const userAnswersOn = ({ sql, operation, isAmong, isRemote }: StoreParts) => {
  const namesIn = (chatId: ChatId) => sql`chat_ids LIKE ${`%"${chatId}"%`}`;

  /**
   * Finds the kept answers that name the user on SQLite, where a scan of the day's keys in the final transaction would hold
   * the writer; on Postgres, it delays nobody. A later request has a later row, unless it takes the place of an expired one.
   */
  const findAnswers = operation("erase", function* (chatId: ChatId): Effect.fn.Return<
    FoundAnswers | null,
    Ending
  > {
    if (isRemote) return null;
    const ids: Array<string> = [];
    const soon = (yield* Clock.currentTimeMillis) + 60_000;
    for (let last = 0; ; ) {
      const [end = null] = yield* readLasts(sql`
        SELECT MAX(number) AS last FROM (
          SELECT rowid AS number FROM idempotency_keys WHERE rowid > ${last} ORDER BY rowid LIMIT ${rowsOfStep})`);
      if (end === null) return { last, ids: JSON.stringify(ids) };
      const some = sql`rowid > ${last} AND rowid <= ${end} AND (${namesIn(chatId)} OR ends_at <= ${soon})`;
      ids.push(...(yield* readAnswerIds(sql`SELECT id FROM idempotency_keys WHERE ${some}`)));
      last = end;
      yield* Effect.yieldNow;
    }
  });

  /** Erases the answers that were found, and those of rows behind the last one. */
  const eraseAnswers = (chatId: ChatId, answers: FoundAnswers | null) => {
    const isFound =
      answers === null ? sql`1 = 1` : sql`(rowid > ${answers.last} OR id ${isAmong(answers.ids)})`;
    return sql`UPDATE idempotency_keys SET answer = NULL, chat_ids = '[]' WHERE ${namesIn(chatId)} AND ${isFound}`;
  };

  return { findAnswers, eraseAnswers };
};

const readLasts = columnReader("idempotency_keys", "last", Schema.NullOr(Schema.Int));

const readAnswerIds = columnReader("idempotency_keys", "id", Schema.String);

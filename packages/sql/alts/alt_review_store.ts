import { ChatId, KeyId, Pid } from "@accountlink/core";
import {
  AltReviewStore,
  keptReview,
  type ReviewedPair,
  removedReview,
  type SetAltReview,
} from "@accountlink/core/alts";
import type { Keyed } from "@accountlink/core/idempotency";
import { assertStorable } from "@accountlink/core/storable_text";
import { Schema } from "effect";
import { SqlClient } from "effect/sql";
import { insertEntry } from "../journal/records.ts";
import { linkStatements } from "../links/link_statements.ts";
import { keyedWriteOn } from "../statements/keyed_write.ts";
import { literalsOf, OptionalText, tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";

export const layer = storeLayer(AltReviewStore)((parts) => {
  const { sql, operation } = parts;
  const keyedWrite = keyedWriteOn(parts);
  const { lockScope } = linkStatements(sql);
  return {
    set: keyedWrite("set", keptReview, function* (write: SetAltReview & Keyed) {
      const { pid, chatId, otherChatId, verdict, note, at, keyId } = write;
      assertStorable([note ?? ""]);
      const [one, other] = inOrder(write);
      // Lock the scope before the review, like deleteScope, to avoid deadlocks.
      yield* lockScope(pid);
      yield* sql`
        INSERT INTO alt_reviews (pid, chat_id, other_chat_id, verdict, note, reviewed_at, key_id)
        VALUES (${pid}, ${one}, ${other}, ${verdict}, ${note}, ${at}, ${keyId})
        ON CONFLICT (pid, chat_id, other_chat_id) DO UPDATE SET
          verdict = excluded.verdict,
          note = excluded.note,
          reviewed_at = excluded.reviewed_at,
          key_id = excluded.key_id`;
      yield* insertEntry(sql, { ...write, action: "review.set", details: { chatId, otherChatId, verdict } });
    }),

    remove: keyedWrite("remove", removedReview, function* (write: ReviewedPair & Keyed) {
      const { pid, chatId, otherChatId } = write;
      const [one, other] = inOrder(write);
      yield* lockScope(pid);
      const removed = yield* sql`
        DELETE FROM alt_reviews WHERE pid = ${pid} AND chat_id = ${one} AND other_chat_id = ${other}
        RETURNING verdict`;
      if (removed.length === 0) return false;
      yield* insertEntry(sql, { ...write, action: "review.deleted", details: { chatId, otherChatId } });
      return true;
    }),

    findByChatId: operation("findByChatId", function* (pid, chatId, limit) {
      const atMost = limit === null ? sql`` : sql`LIMIT ${limit}`;
      const reviews = yield* readReviews(sql`
        SELECT pid, ${asSeenFrom(sql, chatId)}, verdict, note, reviewed_at, key_id FROM alt_reviews
        WHERE pid = ${pid} AND (chat_id = ${chatId} OR other_chat_id = ${chatId})
        ORDER BY reviewed_at DESC, the_other ${atMost}`);
      return reviews.map(({ review }) => review);
    }),
  };
});

/**
 * Selects the pair of chat users of a review. `the_one` is the user with the ID `chatId`, and `the_other` is the other
 * user.
 */
export const asSeenFrom = (sql: SqlClient.SqlClient, chatId: ChatId) => sql`
  CASE WHEN chat_id = ${chatId} THEN chat_id ELSE other_chat_id END AS the_one,
  CASE WHEN chat_id = ${chatId} THEN other_chat_id ELSE chat_id END AS the_other`;

export const readReviews = tableOf(
  "alt_reviews",
  {
    pid: Pid,
    chatId: ChatId,
    otherChatId: ChatId,
    verdict: literalsOf({ different: true, same: true }),
    note: OptionalText,
    at: Schema.Int,
    keyId: Schema.NullOr(KeyId),
  },
  { chatId: "the_one", otherChatId: "the_other", at: "reviewed_at" },
).reader(({ pid, ...review }) => ({ pid, review }));

const inOrder = ({ chatId, otherChatId }: ReviewedPair) => [chatId, otherChatId].toSorted();

import { ChatId, Pid } from "@accountlink/core";
import {
  type FoundSuspect,
  mostSuspects,
  type Suspect,
  SuspectFields,
  SuspectStore,
  type UserSuspect,
} from "@accountlink/core/alts";
import { Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { linkStatements } from "../links/link_statements.ts";
import { deleteInBatches } from "../statements/in_batches.ts";
import { literalsOf, tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";

export const layer = storeLayer(SuspectStore)((parts) => {
  const { sql, operation, transaction, isAmong, usersInUse } = parts;
  const { lockScope } = linkStatements(sql);

  return {
    add: transaction("add", function* (pid: Pid, suspects: ReadonlyArray<Suspect>) {
      const users = [...new Set(suspects.flatMap(({ chatId, otherChatId }) => [chatId, otherChatId]))];
      // Wait for erasures of the users, and then see that the users have no records.
      yield* sql`SELECT locks FROM ${usersInUse(JSON.stringify(users))}`;
      yield* lockScope(pid);
      const records = yield* readRecords(sql`
        SELECT chat_id, game_id FROM links WHERE pid = ${pid} AND chat_id ${isAmong(JSON.stringify(users))}`);
      const gameOf = new Map(records.map(({ chatId, gameId }) => [chatId, gameId]));
      for (const { chatId, gameId, otherChatId, at, score, evidence } of suspects) {
        if (gameOf.get(chatId) !== gameId || !gameOf.has(otherChatId)) continue;
        yield* sql`
          INSERT INTO suspects (pid, chat_id, other_chat_id, game_id, linked_at, score, evidence)
          VALUES (${pid}, ${chatId}, ${otherChatId}, ${gameId}, ${at}, ${score}, ${JSON.stringify(evidence)})
          ON CONFLICT (pid, chat_id, other_chat_id) DO UPDATE SET
            game_id = excluded.game_id, linked_at = excluded.linked_at, score = excluded.score,
            evidence = excluded.evidence`;
      }
      yield* sql`
        DELETE FROM suspects WHERE pid = ${pid} AND (chat_id, other_chat_id) IN (
          SELECT chat_id, other_chat_id FROM suspects WHERE pid = ${pid} ORDER BY ${newestFirst(sql)}
          LIMIT ${mostSuspects} OFFSET ${mostSuspects})`;
    }),

    find: operation("find", function* (pid: Pid, since: number) {
      const found = yield* readSuspects(sql`
        SELECT ${columns}, (
          SELECT verdict FROM alt_reviews
          WHERE alt_reviews.pid = suspects.pid
            AND alt_reviews.chat_id = CASE
              WHEN suspects.chat_id < suspects.other_chat_id THEN suspects.chat_id ELSE suspects.other_chat_id END
            AND alt_reviews.other_chat_id = CASE
              WHEN suspects.chat_id < suspects.other_chat_id THEN suspects.other_chat_id ELSE suspects.chat_id END
        ) AS verdict
        FROM suspects WHERE pid = ${pid} AND linked_at >= ${since} ORDER BY ${newestFirst(sql)}`);
      return found.flatMap(
        ({ verdict, ...suspect }): ReadonlyArray<FoundSuspect> =>
          verdict === "different" ? [] : [{ ...suspect, verdict }],
      );
    }),

    ofUser: operation("ofUser", (chatId) =>
      readUserSuspects(sql`
        SELECT pid, ${columns} FROM suspects WHERE ${namesUser(sql, chatId)}
        ORDER BY linked_at DESC, pid, chat_id, other_chat_id`),
    ),

    forget: operation("forget", function* (before: number) {
      yield* deleteInBatches(sql, {
        table: "suspects",
        primaryKey: ["pid", "chat_id", "other_chat_id"],
        order: "linked_at",
        condition: sql`linked_at < ${before}`,
      });
    }),
  };
});

/** Deletes the pairs of a chat user in all scopes. */
export const forgetSuspects = (sql: SqlClient.SqlClient, chatId: ChatId) => sql`
  DELETE FROM suspects WHERE ${namesUser(sql, chatId)}`;

const namesUser = (sql: SqlClient.SqlClient, chatId: ChatId) => sql`
  chat_id = ${chatId} OR other_chat_id = ${chatId}`;

const newestFirst = (sql: SqlClient.SqlClient) => sql`linked_at DESC, chat_id, other_chat_id`;

const names = { at: "linked_at" } as const;

const fields = { ...SuspectFields, evidence: Schema.fromJsonString(SuspectFields.evidence) } as const;

const { columns } = tableOf("suspects", fields, names);

const readSuspects = tableOf(
  "suspects",
  { ...fields, verdict: Schema.NullOr(literalsOf({ different: true, same: true })) },
  names,
).reader();

const readUserSuspects = tableOf("suspects", { pid: Pid, ...fields }, names).reader(
  ({ pid, ...suspect }): UserSuspect => ({ pid, suspect }),
);

const readRecords = tableOf("links", {
  chatId: ChatId,
  gameId: Schema.NullOr(SuspectFields.gameId),
}).reader();

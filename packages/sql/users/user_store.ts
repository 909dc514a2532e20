import { ChatId } from "@accountlink/core";
import type { Actor } from "@accountlink/core/audit";
import { type UnfinishedErasure, UserStore, unfinishedAfter, userRecordsOf } from "@accountlink/core/users";
import { Array as Arr, Effect, Schema } from "effect";
import { accountsOfUser, readScopes } from "../keys/accounts.ts";
import { readRecords, recordColumns } from "../links/link_lookups.ts";
import { withTx } from "../records.ts";
import { OptionalText, tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";
import { eraseUserOn } from "./user_erasure.ts";
import { userRecordsOn } from "./user_records.ts";

export const layer = storeLayer(UserStore)((parts) => {
  const { sql, operation, asBulk, isRemote } = parts;
  const erase = eraseUserOn(parts);
  const { entries: findEntries } = userRecordsOn(sql);

  const findRecords = Effect.fnUntraced(function* (chatId: ChatId) {
    const rows = yield* sql`
      SELECT links.pid, account, guild_id, ${recordColumns} FROM links JOIN scopes ON scopes.pid = links.pid
      WHERE chat_id = ${chatId} ORDER BY links.pid`;
    const found = Effect.succeed(rows);
    return Arr.zipWith(yield* readScopes(found), yield* readRecords(found), (scope, record) => ({
      scope,
      record,
    }));
  });

  const find = Effect.fnUntraced(function* (chatId: ChatId) {
    const records = yield* findRecords(chatId);
    const pids = records.map(({ scope }) => scope.pid);
    return {
      accounts: yield* accountsOfUser(sql, chatId),
      records,
      ...(yield* withTx(sql, (tx) => userRecordsOf(tx, chatId, pids))),
    };
  });

  return {
    // On Postgres, `asBulk` needs a transaction. On SQLite, a transaction would block all writers.
    find: operation("find", (chatId) =>
      isRemote ? asBulk(sql.withTransaction(find(chatId))) : find(chatId),
    ),

    entries: operation("entries", function* (chatId, after, limit) {
      const names = (yield* accountsOfUser(sql, chatId)).map(({ name }) => name);
      return yield* findEntries({ chatId, names }, after, limit);
    }),

    findRecords: operation("findRecords", findRecords),

    erase,

    unfinished: operation("unfinished", (now) =>
      readErasures(sql`
        SELECT chat_id, actor_type, actor_id, member, request_id FROM erasures
        WHERE step_at <= ${now - unfinishedAfter} ORDER BY step_at`),
    ),
  };
});

const readErasures = tableOf(
  "erasures",
  {
    chatId: ChatId,
    type: Schema.Literals(["key", "operator", "account", "user"]),
    id: Schema.String,
    member: OptionalText,
    requestId: OptionalText,
  },
  { type: "actor_type", id: "actor_id" },
).reader(({ chatId, type, id, member, requestId }): UnfinishedErasure => {
  const actor = { type, id, ...(type === "account" && { member }) } as Actor;
  return { chatId, actor, requestId };
});

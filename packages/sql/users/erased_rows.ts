/** The rows of a user that an erasure deletes or changes. */
import { type ChatId, Pid } from "@accountlink/core";
import { forgetInLogs } from "@accountlink/core/guild_log";
import type { RecordType } from "@accountlink/core/records";
import { forgetInSessions, forgetters, recordTypes } from "@accountlink/core/storage";
import type { ErasedThing, EraseUser } from "@accountlink/core/users";
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { tableFor } from "../record_table.ts";
import { withTx } from "../records.ts";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader, literalSql } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { userRecordsOn } from "./user_records.ts";

/** Deletes the records of a user, in all scopes or in some, and returns what was erased in which scope. */
const eraseRecordsOn = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  types: ReadonlyArray<RecordType>,
  chatId: ChatId,
  pids: ReadonlyArray<Pid> | null = null,
) {
  const { isAmong } = dialectOf(sql);
  const erased: Array<ErasedThing> = [];
  for (const type of types) {
    const { name, isOfScope, columns, ofUser } = type;
    if (ofUser === null || (pids !== null && !isOfScope)) continue;
    const { either, fields } = ofUser.index;
    const isTheirs = sql.or(
      (either ?? fields.slice(0, 1)).map((field) => sql`${sql(columns[field] as string)} = ${chatId}`),
    );
    const inScopes = pids === null ? sql`1 = 1` : sql`pid ${isAmong(pids)}`;
    const removed = sql`DELETE FROM ${sql(name)} WHERE ${inScopes} AND ${isTheirs}`;
    const { erasedAs } = ofUser;
    const { list, read } = tableFor(type);
    if (erasedAs === null) yield* removed;
    else {
      const found: ReadonlyArray<{ readonly pid?: unknown }> = yield* read(
        sql`${removed} RETURNING ${literalSql(list)}`,
      );
      erased.push(...found.map((record) => ({ pid: record.pid as Pid, what: erasedAs(record as never) })));
    }
  }
  return erased;
});

export const erasedRowsOn = ({ sql, forUpdate, isAmong, isAnyOf, isRemote }: StoreParts) => {
  const { eraseAll: eraseRecords } = userRecordsOn(sql);
  const inAnyScope = sql`1 = 1`;

  /** Deletes the user's records in scopes, and returns what was erased. */
  const eraseLinks = Effect.fnUntraced(function* (chatId: ChatId, inScopes: Statement.Fragment) {
    const pids = yield* readPids(
      sql`SELECT pid FROM links WHERE ${inScopes} AND chat_id = ${chatId} ORDER BY pid ${forUpdate}`,
    );
    const inRecords = isAmong(pids);
    yield* sql`DELETE FROM links WHERE pid ${inRecords} AND chat_id = ${chatId}`;
    yield* sql`
      DELETE FROM import_links
      WHERE import_id ${isAnyOf(sql`SELECT id FROM link_imports WHERE pid ${inRecords}`)} AND chat_id = ${chatId}`;
    return pids.map((pid) => ({ pid, what: "records" as const }));
  });

  /** Takes the user's answers from requests that are kept, none of which names more than three users. */
  const eraseAnswers = (chatId: ChatId) => {
    const [first, second, third] = [0, 1, 2].map((number) => literalSql(userOfAnswer(number, isRemote)));
    return sql`
      UPDATE idempotency_keys SET answer = NULL, chat_ids = '[]'
      WHERE ${first} = ${chatId} OR ${second} = ${chatId} OR ${third} = ${chatId}`;
  };

  const eraseOthers = (chatId: ChatId, pids?: ReadonlyArray<Pid>) =>
    eraseRecordsOn(sql, recordTypes, chatId, pids);

  /**
   * Erases the user's rows in the lock order of `flow_completion.ts`, and returns what was erased in which scope.
   * Returns null if the user has a record in a scope that the erasure does not name in `scopes`.
   */
  const eraseOnce = Effect.fnUntraced(function* (
    { chatId, at, scopes }: EraseUser,
    names: ReadonlyArray<string>,
  ) {
    const records = yield* eraseLinks(chatId, inAnyScope);
    if (records.some(({ pid }) => !scopes.includes(pid))) return null;
    while (yield* withTx(sql, (tx) => forgetInSessions(tx, chatId, at), true));
    const all = Number.MAX_SAFE_INTEGER;
    for (const forget of forgetters) yield* withTx(sql, (tx) => forget(tx, chatId, all), true);
    const { pids: messages } = yield* withTx(sql, (tx) => forgetInLogs(tx, chatId, at, all), true);
    yield* eraseAnswers(chatId);
    yield* sql`
      UPDATE blocks SET chat_id = NULL, reason = NULL WHERE chat_id = ${chatId}`;
    yield* sql`UPDATE blocks SET member = NULL WHERE member = ${chatId}`;
    return [
      ...records,
      ...(yield* eraseOthers(chatId)),
      ...messages.map((pid) => ({ pid, what: "messages" as const })),
      ...(yield* eraseRecords({ chatId, names })),
    ];
  });

  return { eraseLinks, eraseOthers, eraseOnce };
};

/** The SQL of one chat ID in a kept answer. Each of the first three has an index. */
const userOfAnswer = (number: number, isPostgres: boolean): string =>
  isPostgres ? `(chat_ids::json ->> ${number})` : `(chat_ids ->> ${number})`;

const readPids = columnReader("links", "pid", Pid);

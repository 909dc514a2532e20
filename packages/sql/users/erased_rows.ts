/** The rows of a user that an erasure deletes or changes. */
import { type ChatId, Pid } from "@accountlink/core";
import { forgetInLogs } from "@accountlink/core/guild_log";
import { forgetInSessions, forgetters, recordTypes } from "@accountlink/core/storage";
import type { ErasedThing, EraseUser } from "@accountlink/core/users";
import { Effect } from "effect";
import { tableFor } from "../record_table.ts";
import { withTx } from "../records.ts";
import { castJson } from "../statements/dialect.ts";
import { columnReader, literalSql } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";
import { userRecordsOn } from "./user_records.ts";

/** The scopes of an erasure; null for all. */
type Scopes = ReadonlyArray<Pid> | null;

export const erasedRowsOn = ({ sql, forUpdate, isAmong, isAnyOf, isRemote }: StoreParts) => {
  const { eraseAll: eraseRecords } = userRecordsOn(sql);
  const isIn = (scopes: Scopes) => (scopes === null ? sql`1 = 1` : sql`pid ${isAmong(scopes)}`);

  /** Deletes the user's link records, and returns what was erased in which scope. */
  const eraseLinks = Effect.fnUntraced(function* (chatId: ChatId, scopes: Scopes) {
    const pids = yield* readPids(
      sql`SELECT pid FROM links WHERE ${isIn(scopes)} AND chat_id = ${chatId} ORDER BY pid ${forUpdate}`,
    );
    yield* sql`DELETE FROM links WHERE pid ${isAmong(pids)} AND chat_id = ${chatId}`;
    // A deletion of a scope's data leaves what its imports did to a later sweep.
    const imports = sql`
      SELECT id FROM link_imports WHERE pid ${isAmong(pids)} UNION SELECT id FROM link_imports WHERE ends_at = 0`;
    yield* sql`DELETE FROM import_links WHERE import_id ${isAnyOf(imports)} AND chat_id = ${chatId}`;
    return pids.map((pid) => ({ pid, what: "records" as const }));
  });

  /** Deletes the user's records of all types, and returns what was erased in which scope. */
  const eraseOthers = Effect.fnUntraced(function* (chatId: ChatId, scopes: Scopes) {
    const erased: Array<ErasedThing> = [];
    for (const type of recordTypes) {
      const { name, isOfScope, columns, ofUser } = type;
      if (ofUser === null || (scopes !== null && !isOfScope)) continue;
      const { erasedAs, index } = ofUser;
      const isTheirs = sql.or(
        (index.either ?? index.fields.slice(0, 1)).map(
          (field) => sql`${sql(columns[field] as string)} = ${chatId}`,
        ),
      );
      const removed = sql`DELETE FROM ${sql(name)} WHERE ${isIn(scopes)} AND ${isTheirs}`;
      if (erasedAs === null) {
        yield* removed;
        continue;
      }
      const { list, read } = tableFor(type);
      for (const record of yield* read(sql`${removed} RETURNING ${literalSql(list)}`)) {
        erased.push({ pid: record["pid"] as Pid, what: erasedAs(record as never) });
      }
    }
    return erased;
  });

  /** Takes the user's answers from requests that are kept, none of which names more than three users. */
  const eraseAnswers = (chatId: ChatId) => {
    // Each has an index.
    const users = [0, 1, 2].map((number) => `(chat_ids ->> ${number})`);
    const isNamed = users.map((user) => sql`${literalSql(isRemote ? castJson(user) : user)} = ${chatId}`);
    return sql`UPDATE idempotency_keys SET answer = NULL, chat_ids = '[]' WHERE ${sql.or(isNamed)}`;
  };

  /**
   * Erases the user's rows in the lock order of `flow_completion.ts`, and returns what was erased in which scope.
   * Returns null if the user has a record in a scope that the erasure does not name in `scopes`.
   */
  const eraseOnce = Effect.fnUntraced(function* (
    { chatId, at, scopes }: EraseUser,
    names: ReadonlyArray<string>,
  ) {
    const records = yield* eraseLinks(chatId, null);
    if (records.some(({ pid }) => !scopes.includes(pid))) return null;
    while (yield* withTx(sql, (tx) => forgetInSessions(tx, chatId, at), true));
    const all = Number.MAX_SAFE_INTEGER;
    for (const forget of forgetters) yield* withTx(sql, (tx) => forget(tx, chatId, all), true);
    const { pids: messages } = yield* withTx(sql, (tx) => forgetInLogs(tx, chatId, at, all), true);
    yield* eraseAnswers(chatId);
    const others = yield* eraseOthers(chatId, null);
    yield* sql`
      UPDATE blocks SET chat_id = NULL, reason = NULL WHERE chat_id = ${chatId}`;
    yield* sql`UPDATE blocks SET member = NULL WHERE member = ${chatId}`;
    return [
      ...records,
      ...others,
      ...messages.map((pid) => ({ pid, what: "messages" as const })),
      ...(yield* eraseRecords({ chatId, names })),
    ];
  });

  return { eraseLinks, eraseOthers, eraseOnce };
};

const readPids = columnReader("links", "pid", Pid);

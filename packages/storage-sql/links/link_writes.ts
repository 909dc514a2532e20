/**
 * The writes of `LinkStore`. Each answers with values of the statement that writes, or of rows that
 * it has locked. So writes to one chat user are serialized, and each reports what it replaced.
 */
import type { LinkStore, Pid } from "@accountlink/core";
import {
  type GameUnlinked,
  isLinked,
  type MoveChat,
  type RemoveGame,
  type WriteContext,
} from "@accountlink/core/links";
import { Effect, Option } from "effect";
import type { SqlClient } from "effect/sql";
import { insertLinkEntry } from "../audit/audit_entry.ts";
import { endVerificationsOn } from "../sessions/verification_ends.ts";
import { dialectOf } from "../statements/dialect.ts";
import { operation } from "../statements/operation.ts";
import { relinkOf } from "./link_relink.ts";
import { readRecords, readReplaced } from "./link_row.ts";
import { linkStatements } from "./link_statements.ts";
import { setGameOn } from "./set_game.ts";

/** Each write is a transaction with its audit entry. */
export const linkWrites = (
  sql: SqlClient.SqlClient,
): Pick<LinkStore["Service"], "setGame" | "moveChat" | "removeGame" | "deleteScope"> => {
  const [setGame, moveChat] = [setGameOn(sql), moveChatOn(sql)];
  const [removeGame, deleteScope] = [removeGameOn(sql), deleteScopeOn(sql)];
  const { withBulkTimeout } = dialectOf(sql);
  return {
    setGame: (write) =>
      setGame(write).pipe(operation("LinkStore.setGame", write.actor.id, write.requestId ?? "")),
    moveChat: (write) => moveChat(write).pipe(operation("LinkStore.moveChat")),
    removeGame: (write) => removeGame(write).pipe(operation("LinkStore.removeGame")),
    deleteScope: (write) => withBulkTimeout(deleteScope(write)).pipe(operation("LinkStore.deleteScope")),
  };
};

const removeGameOn = (sql: SqlClient.SqlClient) => {
  const { unlink } = linkStatements(sql);
  const endVerifications = endVerificationsOn(sql);
  return Effect.fnUntraced(function* (write: RemoveGame) {
    const { pid, chatId, at } = write;
    const [removedGameId = null] = yield* Effect.flatMap(unlink(pid, chatId, at), readReplaced);
    if (removedGameId === null) return Option.none<GameUnlinked>();
    const ended = yield* endVerifications(pid, chatId, at);
    yield* insertLinkEntry(sql, write, "link.removed", { chatId, removedGameId });
    return Option.some({ gameId: removedGameId, ended });
  }, sql.withTransaction);
};

const moveChatOn = (sql: SqlClient.SqlClient) => {
  const { forReference } = dialectOf(sql);
  const { link, unlink, lock, lockScope } = linkStatements(sql);
  const onlyUnlinked = sql`${relinkOf(sql)} WHERE links.game_id IS NULL`;
  return Effect.fnUntraced(function* (write: MoveChat) {
    const { pid, oldChatId, newChatId, at } = write;
    // Before the records, like deleteScope, to avoid deadlocks.
    yield* lockScope(pid, forReference);
    const records = yield* Effect.flatMap(lock(pid, oldChatId, newChatId), readRecords);
    const old = records.find(({ chatId }) => chatId === oldChatId);
    if (old === undefined || !isLinked(old)) return { _tag: "NoLink" } as const;

    const { gameId } = old;
    if (newChatId === oldChatId) return { _tag: "Unchanged", gameId } as const;

    // A new user without a record has no row to lock, so the statement itself checks for a link.
    const linked = yield* link(pid, newChatId, gameId, at, onlyUnlinked);
    if (linked.length === 0) return { _tag: "Occupied" } as const;
    yield* unlink(pid, oldChatId, at);
    yield* insertLinkEntry(sql, write, "link.moved", { chatId: oldChatId, newChatId, gameId });
    return { _tag: "Moved", gameId } as const;
  }, sql.withTransaction);
};

const deleteScopeOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  const { lockScope } = linkStatements(sql);
  const deleteLinks = deleteRowsOn(sql, "links", ["pid", "chat_id"]);
  const deleteSightings = deleteRowsOn(sql, "sightings", ["pid", "chat_id", "address_hash"]);
  const endVerifications = endVerificationsOn(sql);
  return Effect.fnUntraced(function* (write: WriteContext) {
    const { pid, at } = write;
    // Waits for transactions that add records, so that the DELETE sees them.
    yield* lockScope(pid, forUpdate);
    const records = yield* deleteLinks(pid);
    yield* deleteSightings(pid);
    yield* sql`DELETE FROM alt_reviews WHERE pid = ${pid}`;
    const ended = yield* endVerifications(pid, null, at);
    yield* insertLinkEntry(sql, write, "scope.deleted", { deletedRecords: records });
    return { records, ended };
  }, sql.withTransaction);
};

/** How many rows are deleted before an embedded database lets the process read again. */
const deletedAtOnce = 1_000;

/** Deletes the rows of a scope in a table with this primary key, and returns their number. */
const deleteRowsOn = (sql: SqlClient.SqlClient, table: string, primaryKey: ReadonlyArray<string>) => {
  const { isRemote, rowsWritten, firstRows } = dialectOf(sql);
  if (isRemote) {
    return (pid: Pid) => Effect.map(sql`DELETE FROM ${sql(table)} WHERE pid = ${pid}`.raw, rowsWritten);
  }
  return Effect.fnUntraced(function* (pid: Pid) {
    const condition = sql`pid = ${pid}`;
    const rows = firstRows({ table, primaryKey, order: "chat_id", condition, limit: deletedAtOnce });
    let total = 0;
    for (;;) {
      const deleted = rowsWritten(yield* sql`DELETE FROM ${sql(table)} ${rows}`.raw);
      total += deleted;
      if (deleted < deletedAtOnce) return total;
      yield* Effect.yieldNow;
    }
  });
};

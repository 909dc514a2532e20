/**
 * The writes of `LinkStore`. What a write answers it learns from the very statement that writes, or from rows that it
 * holds locked: writes to one chat user happen one after the other, and each names what it really replaced.
 */
import {
  type GameUnlinked,
  isLinked,
  type Link,
  type LinkStore,
  type MoveChat,
  type RemoveGame,
  type SetGame,
  type WriteContext,
} from "@accountlink/core";
import { Effect, Option } from "effect";
import type { SqlClient } from "effect/sql";
import { insertLinkEntry } from "./audit_entry.ts";
import { dialectOf } from "./dialect.ts";
import { relinkOf } from "./link_relink.ts";
import { readRecords, readReplaced } from "./link_row.ts";
import { linkStatements } from "./link_statements.ts";
import { operation } from "./operation.ts";
import { endVerificationsOn } from "./verification_ends.ts";

/** The writes, each one a transaction that holds its audit entry, if it has one, as well. */
export const linkWrites = (
  sql: SqlClient.SqlClient,
): Pick<LinkStore["Service"], "setGame" | "moveChat" | "removeGame" | "deleteScope"> => {
  const { setGame, removeGame } = writesOfOne(sql);
  const [moveChat, deleteScope] = [moveChatOn(sql), deleteScopeOn(sql)];
  const { patiently } = dialectOf(sql);
  return {
    setGame: (write) => setGame(write).pipe(operation("LinkStore.setGame")),
    moveChat: (write) => moveChat(write).pipe(operation("LinkStore.moveChat")),
    removeGame: (write) => removeGame(write).pipe(operation("LinkStore.removeGame")),
    deleteScope: (write) => patiently(deleteScope(write)).pipe(operation("LinkStore.deleteScope")),
  };
};

/** The writes to one chat user. */
const writesOfOne = (sql: SqlClient.SqlClient) => {
  const { link, unlink } = linkStatements(sql);
  const endVerifications = endVerificationsOn(sql);

  const setGame = Effect.fnUntraced(function* (write: SetGame) {
    const { pid, chatId, gameId, at } = write;
    const rows = yield* link(pid, chatId, gameId, at);
    const [record] = yield* readRecords(rows);
    const [previousGameId = null] = yield* readReplaced(rows);
    if (previousGameId !== gameId) {
      yield* insertLinkEntry(sql, write, "link.set", { chatId, gameId, previousGameId });
    }
    return { record: record as Link, previousGameId };
  }, sql.withTransaction);

  const removeGame = Effect.fnUntraced(function* (write: RemoveGame) {
    const { pid, chatId, at } = write;
    const [removedGameId = null] = yield* Effect.flatMap(unlink(pid, chatId, at), readReplaced);
    if (removedGameId === null) return Option.none<GameUnlinked>();
    const ended = yield* endVerifications(pid, chatId, at);
    yield* insertLinkEntry(sql, write, "link.removed", { chatId, removedGameId });
    return Option.some({ gameId: removedGameId, ended });
  }, sql.withTransaction);

  return { setGame, removeGame };
};

const moveChatOn = (sql: SqlClient.SqlClient) => {
  const { forReference } = dialectOf(sql);
  const { link, unlink, lock, lockScope } = linkStatements(sql);
  const onlyUnlinked = sql`${relinkOf(sql)} WHERE links.game_id IS NULL`;
  return Effect.fnUntraced(function* (write: MoveChat) {
    const { pid, oldChatId, newChatId, at } = write;
    // Before the records, as in deleteScope, so that the two never wait for each other.
    yield* lockScope(pid, forReference);
    const records = yield* Effect.flatMap(lock(pid, oldChatId, newChatId), readRecords);
    const old = records.find(({ chatId }) => chatId === oldChatId);
    if (old === undefined || !isLinked(old)) return { _tag: "NoLink" } as const;

    const { gameId } = old;
    if (newChatId === oldChatId) return { _tag: "Unchanged", gameId } as const;

    // No row could be locked for a new user without a record, so the statement itself has to look for a link.
    const linked = yield* link(pid, newChatId, gameId, at, onlyUnlinked);
    if (linked.length === 0) return { _tag: "Occupied" } as const;
    yield* unlink(pid, oldChatId, at);
    yield* insertLinkEntry(sql, write, "link.moved", { chatId: oldChatId, newChatId, gameId });
    return { _tag: "Moved", gameId } as const;
  }, sql.withTransaction);
};

const deleteScopeOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate, rowsWritten } = dialectOf(sql);
  const { lockScope } = linkStatements(sql);
  const endVerifications = endVerificationsOn(sql);
  return Effect.fnUntraced(function* (write: WriteContext) {
    const { pid, at } = write;
    // A record that is being added has to be there before it can be deleted.
    yield* lockScope(pid, forUpdate);
    const records = rowsWritten(yield* sql`DELETE FROM links WHERE pid = ${pid}`.raw);
    yield* sql`DELETE FROM sightings WHERE pid = ${pid}`;
    const ended = yield* endVerifications(pid, null, at);
    yield* insertLinkEntry(sql, write, "scope.deleted", { deletedRecords: records });
    return { records, ended };
  }, sql.withTransaction);
};

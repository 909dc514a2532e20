/**
 * The writes of `LinkStore` that move and remove links. Each write reports the values that it replaced, even if others
 * write to the same chat user concurrently: the values come from the write's own statement or from rows that the write
 * has locked.
 */
import type { LinkStore } from "@accountlink/core";
import { linkMoved, linkRemoved, sourceOf } from "@accountlink/core/events";
import { type GameUnlinked, isLinked, type MoveChat, type RemoveGame } from "@accountlink/core/links";
import { Effect, Option } from "effect";
import type { SqlClient } from "effect/sql";
import { insertLinkEntry } from "../audit/audit_entry.ts";
import { endVerificationsOn } from "../flow/verification_ends.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { readRecords, readSets, readUnlinked } from "./link_row.ts";
import { linkStatements, relinkOf } from "./link_statements.ts";

/** Each write is a transaction that includes its audit entry. */
export const linkWrites = (
  sql: SqlClient.SqlClient,
): Pick<LinkStore["Service"], "moveChat" | "removeGame"> => {
  const [moveChat, removeGame] = [moveChatOn(sql), removeGameOn(sql)];
  return {
    moveChat: (write) => moveChat(write).pipe(storeOperation("LinkStore.moveChat")),
    removeGame: (write) => removeGame(write).pipe(storeOperation("LinkStore.removeGame")),
  };
};

const removeGameOn = (sql: SqlClient.SqlClient) => {
  const { unlink } = linkStatements(sql);
  const endVerifications = endVerificationsOn(sql);
  return Effect.fnUntraced(function* (write: RemoveGame) {
    const { pid, chatId, at } = write;
    const [unlinked] = yield* Effect.flatMap(unlink(pid, chatId, at), readUnlinked);
    if (unlinked === undefined) return Option.none<GameUnlinked>();
    const { removedGameId, linkVersion } = unlinked;
    const ended = yield* endVerifications(pid, chatId, at);
    const event = linkRemoved(chatId, removedGameId, linkVersion, sourceOf(write.actor));
    yield* insertLinkEntry(sql, write, "link.removed", { chatId, removedGameId }, event);
    return Option.some({ gameId: removedGameId, ended });
  }, sql.withTransaction);
};

const moveChatOn = (sql: SqlClient.SqlClient) => {
  const { link, unlink, lock, lockScope, placeholder, removePlaceholder } = linkStatements(sql);
  const onlyUnlinked = sql`${relinkOf(sql)} WHERE links.game_id IS NULL`;
  return Effect.fnUntraced(function* (write: MoveChat) {
    const { pid, oldChatId, newChatId, at } = write;
    // Lock the scope before the records, like deleteScope, to avoid deadlocks.
    yield* lockScope(pid);
    // Lock the user with the smaller chat ID first. A user without a record can only be locked by an insert.
    if (newChatId < oldChatId) yield* placeholder(pid, newChatId, oldChatId, at);
    const records = yield* Effect.flatMap(lock(pid, oldChatId, newChatId), readRecords);
    const old = records.find(({ chatId }) => chatId === oldChatId);
    if (old === undefined || !isLinked(old)) {
      yield* removePlaceholder(pid, newChatId);
      return { _tag: "NoLink" } as const;
    }

    const { gameId } = old;
    if (newChatId === oldChatId) return { _tag: "Unchanged", gameId } as const;

    // A new user without a record could not be locked, and may have been linked since. So `onlyUnlinked` lets this
    // statement write only if the user has no link.
    const [linked] = yield* Effect.flatMap(link(pid, newChatId, gameId, at, onlyUnlinked), readSets);
    if (linked === undefined) return { _tag: "Occupied" } as const;
    yield* unlink(pid, oldChatId, at);
    const event = linkMoved(linked.record, oldChatId, sourceOf(write.actor));
    yield* insertLinkEntry(sql, write, "link.moved", { chatId: oldChatId, newChatId, gameId }, event);
    return { _tag: "Moved", gameId } as const;
  }, sql.withTransaction);
};

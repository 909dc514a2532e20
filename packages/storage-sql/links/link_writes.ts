/**
 * The writes of `LinkStore`. Each answers with values of the statement that writes, or of rows that
 * it has locked. So writes to one chat user are serialized, and each reports what it replaced.
 */
import type { ChatId, LinkStore, Pid } from "@accountlink/core";
import { linkMoved, linkRemoved, linkSet, sourceOf } from "@accountlink/core/events";
import {
  type GameSet,
  type GameUnlinked,
  isLinked,
  type MoveChat,
  type RemoveGame,
  type SetGame,
} from "@accountlink/core/links";
import { Context, Effect, Exit, Option } from "effect";
import type { SqlClient, SqlError } from "effect/sql";
import { insertLinkEntries, insertLinkEntry } from "../audit/audit_entry.ts";
import { endVerificationsOn } from "../flow/verification_ends.ts";
import { batched, withSpanLinks } from "../statements/batching.ts";
import { dialectOf } from "../statements/dialect.ts";
import { operation } from "../statements/operation.ts";
import type { UnreadableRow } from "../statements/row.ts";
import { byChatId, type Line, readRecords, readSets, readUnlinked, recordColumns } from "./link_row.ts";
import { linkStatements, relinkOf } from "./link_statements.ts";

/** Each write is a transaction with its audit entry. */
export const linkWrites = (
  sql: SqlClient.SqlClient,
): Pick<LinkStore["Service"], "setGame" | "moveChat" | "removeGame"> => {
  const [setGame, moveChat, removeGame] = [setGameOn(sql), moveChatOn(sql), removeGameOn(sql)];
  return {
    setGame: (write) =>
      setGame(write).pipe(operation("LinkStore.setGame", write.actor.id, write.requestId ?? "")),
    moveChat: (write) => moveChat(write).pipe(operation("LinkStore.moveChat")),
    removeGame: (write) => removeGame(write).pipe(operation("LinkStore.removeGame")),
  };
};

type Failure = SqlError.SqlError | UnreadableRow;

/**
 * The writes of one turn of the event loop to one scope share a transaction, whose commit costs more than their rows.
 */
const setGameOn = (sql: SqlClient.SqlClient): ((write: SetGame) => Effect.Effect<GameSet, Failure>) => {
  const together = setGamesOn(sql);
  const alone = (write: SetGame) => Effect.map(together([write]), ([set]) => set as GameSet);

  const set = batched<SetGame, GameSet, Failure>(
    (writes, contexts) =>
      together(writes).pipe(
        Effect.map((sets) => sets.map(Exit.succeed)),
        // A damaged record fails its own write only.
        Effect.catchTag("UnreadableRow", () => Effect.forEach(writes, (write) => Effect.exit(alone(write)))),
        (batch) => withSpanLinks(contexts, batch),
      ),
    // By scope, so that no write waits for another scope that is being deleted.
    { maxSize: maxBatchSize, groupOf: ({ pid }) => pid },
  );
  return (write) =>
    Effect.withFiber(({ context }) =>
      Context.getOrUndefined(context, sql.transactionService) === undefined ? set(write) : alone(write),
    );
};

const maxBatchSize = 100;

/** Sets links of one scope in order, with their audit entries and events. */
const setGamesOn = (sql: SqlClient.SqlClient) => {
  const store = storeOn(sql);
  const { lastly } = dialectOf(sql);
  return Effect.fnUntraced(function* (writes: ReadonlyArray<SetGame>) {
    const { pid } = writes[0] as SetGame;
    const sets = new Map<SetGame, GameSet>();
    for (const round of roundsOf(writes)) {
      const rows = yield* store(pid, [...round.values()]);
      for (const set of yield* readSets(rows)) sets.set(round.get(set.record.chatId) as SetGame, set);
    }
    if (sets.size < writes.length) return yield* Effect.die(new Error(`Cannot set links: no scope "${pid}"`));
    const entries = writes.flatMap((write) => {
      const { chatId, gameId } = write;
      const { record, previousGameId } = sets.get(write) as GameSet;
      if (previousGameId === gameId) return [];
      const event = linkSet(record, previousGameId, sourceOf(write.actor));
      const details = { chatId, gameId, previousGameId };
      return [{ ...write, action: "link.set" as const, details, event }];
    });
    if (entries.length > 0) yield* lastly(insertLinkEntries(sql, pid, entries));
    return writes.map((write) => sets.get(write) as GameSet);
  }, sql.withTransaction);
};

/** A statement cannot write a row twice, so each has one write of a chat user. */
const roundsOf = (writes: ReadonlyArray<SetGame>) => {
  const rounds: Array<Map<ChatId, SetGame>> = [];
  for (const write of writes) {
    const round = rounds.find((others) => !others.has(write.chatId));
    if (round === undefined) rounds.push(new Map([[write.chatId, write]]));
    else round.set(write.chatId, write);
  }
  return rounds;
};

/**
 * Stores links of one scope and returns their rows; none if there is no such scope. Locks the scope
 * before the records, like deleteScope, and these sorted, to avoid deadlocks.
 */
const storeOn = (sql: SqlClient.SqlClient) => {
  const { elements, forReference } = dialectOf(sql);
  const [relink, returned] = [relinkOf(sql), sql.literal(`${recordColumns}, previous_game_id`)];
  return (pid: Pid, writes: ReadonlyArray<SetGame>) => {
    const lines = writes.map(({ chatId, gameId, at }): Line => [chatId, gameId, at]).toSorted(byChatId);
    return sql`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
      SELECT pid, value ->> 0, value ->> 1, 1, CAST(value ->> 2 AS BIGINT), CAST(value ->> 2 AS BIGINT)
      FROM scopes, ${elements(JSON.stringify(lines))} WHERE pid = ${pid} ${forReference}
      ON CONFLICT (pid, chat_id) ${relink}
      RETURNING ${returned}`;
  };
};

const removeGameOn = (sql: SqlClient.SqlClient) => {
  const { unlink } = linkStatements(sql);
  const { lastly } = dialectOf(sql);
  const endVerifications = endVerificationsOn(sql);
  return Effect.fnUntraced(function* (write: RemoveGame) {
    const { pid, chatId, at } = write;
    const [unlinked] = yield* Effect.flatMap(unlink(pid, chatId, at), readUnlinked);
    if (unlinked === undefined) return Option.none<GameUnlinked>();
    const { removedGameId, linkVersion } = unlinked;
    const ended = yield* endVerifications(pid, chatId, at);
    const event = linkRemoved(chatId, removedGameId, linkVersion, sourceOf(write.actor));
    yield* lastly(insertLinkEntry(sql, write, "link.removed", { chatId, removedGameId }, event));
    return Option.some({ gameId: removedGameId, ended });
  }, sql.withTransaction);
};

const moveChatOn = (sql: SqlClient.SqlClient) => {
  const { forReference, lastly } = dialectOf(sql);
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
    const [linked] = yield* Effect.flatMap(link(pid, newChatId, gameId, at, onlyUnlinked), readSets);
    if (linked === undefined) return { _tag: "Occupied" } as const;
    yield* unlink(pid, oldChatId, at);
    const event = linkMoved(linked.record, oldChatId, sourceOf(write.actor));
    yield* lastly(insertLinkEntry(sql, write, "link.moved", { chatId: oldChatId, newChatId, gameId }, event));
    return { _tag: "Moved", gameId } as const;
  }, sql.withTransaction);
};

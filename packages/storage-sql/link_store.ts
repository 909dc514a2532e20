/**
 * `LinkStore` in SQL.
 */
import { type ChatId, type GameId, isLinked, LinkStore, type Pid } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { gathered } from "./internal/gathering.ts";
import { linkImports } from "./internal/link_import.ts";
import { linkQueries } from "./internal/link_queries.ts";
import { readPairs, readRecord, readRecords } from "./internal/link_row.ts";
import { linkWrites } from "./internal/link_writes.ts";
import { operation } from "./internal/operation.ts";

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* SqlConnection.Connection;
  const queries = linkQueries(sql);
  const run = (text: string, values: ReadonlyArray<unknown>) => connection.execute(text, values, undefined);
  const rowOf = dialectOf(sql).isRemote
    ? gathered<[Pid, ChatId]>(["pid", "chat_id"], (pairs) => run(queries.byPairs, [JSON.stringify(pairs)]))
    : (pid: Pid, chatId: ChatId) => run(queries.byChatId, [pid, chatId]);

  return LinkStore.of({
    findByChatId: (pid, chatId) =>
      rowOf(pid, chatId).pipe(Effect.flatMap(readRecord), operation("LinkStore.findByChatId")),

    findByChatIds: (pid, chatIds) =>
      run(queries.byChatIds, [pid, JSON.stringify(chatIds)]).pipe(
        Effect.flatMap(readRecords),
        Effect.map((records) => new Map(records.map((record) => [record.chatId, record]))),
        operation("LinkStore.findByChatIds"),
      ),

    findByGameIds: (pid, gameIds) =>
      run(queries.byGameIds, [pid, JSON.stringify(gameIds)]).pipe(
        Effect.flatMap(readPairs),
        Effect.map(groupByGame),
        operation("LinkStore.findByGameIds"),
      ),

    exportPage: (pid, after, limit) =>
      run(queries.page, [pid, after ?? "", limit]).pipe(
        Effect.flatMap(readRecords),
        Effect.map((records) =>
          records
            .filter(isLinked)
            .map(({ chatId, gameId, lastVerifiedAt }) => ({ chatId, gameId, lastVerifiedAt })),
        ),
        operation("LinkStore.exportPage"),
      ),

    ...linkWrites(sql),
    ...linkImports(sql),
  });
});

/** `LinkStore` on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<LinkStore, never, SqlClient.SqlClient | SqlConnection.Connection> =
  Layer.effect(LinkStore, make);

/** Keeps the order of the pairs. */
const groupByGame = (
  pairs: ReadonlyArray<{ readonly chatId: ChatId; readonly gameId: GameId }>,
): ReadonlyMap<GameId, ReadonlyArray<ChatId>> => {
  const chatIds = new Map<GameId, Array<ChatId>>();
  for (const { chatId, gameId } of pairs) {
    const group = chatIds.get(gameId);
    if (group === undefined) chatIds.set(gameId, [chatId]);
    else group.push(chatId);
  }
  return chatIds;
};

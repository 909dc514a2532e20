/** `LinkStore` in SQL. */
import { type ChatId, type GameId, LinkStore, type Pid } from "@accountlink/core";
import { isLinked } from "@accountlink/core/links";
import { Effect, Layer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { batched } from "../statements/batching.ts";
import { dialectOf } from "../statements/dialect.ts";
import { operation } from "../statements/operation.ts";
import { linkImports } from "./link_import.ts";
import { linkQueries } from "./link_queries.ts";
import { type RowValues, readPairs, readRecord, readRecordValues } from "./link_row.ts";
import { linkWrites } from "./link_writes.ts";

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* SqlConnection.Connection;
  const queries = linkQueries(sql);
  const run = (text: string, values: ReadonlyArray<unknown>) => connection.executeValues(text, values);
  const rowOf = dialectOf(sql).isRemote
    ? batched<[Pid, ChatId], RowValues>([5, 0], (pairs) => run(queries.byPairs, [JSON.stringify(pairs)]))
    : (pid: Pid, chatId: ChatId) => run(queries.byChatId, [pid, chatId]);

  return LinkStore.of({
    findByChatId: (pid, chatId) =>
      rowOf(pid, chatId).pipe(Effect.flatMap(readRecord), operation("LinkStore.findByChatId")),

    findByChatIds: (pid, chatIds) =>
      run(queries.byChatIds, [pid, JSON.stringify(chatIds)]).pipe(
        Effect.flatMap(readRecordValues),
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
        Effect.flatMap(readRecordValues),
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

export const layer: Layer.Layer<LinkStore, never, SqlClient.SqlClient | SqlConnection.Connection> =
  Layer.effect(LinkStore, make);

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

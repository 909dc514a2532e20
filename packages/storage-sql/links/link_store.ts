/** `LinkStore` in SQL. */
import { type ChatId, type GameId, LinkStore, type Pid } from "@accountlink/core";
import * as Immediate from "@accountlink/core/immediate";
import { isLinked } from "@accountlink/core/links";
import { Effect, Layer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import { batchedLookup } from "../statements/batching.ts";
import { dialectOf } from "../statements/dialect.ts";
import { operation } from "../statements/operation.ts";
import { linkImports } from "./link_import.ts";
import { linkQueries } from "./link_queries.ts";
import { type RowValues, readPairs, readRecord, readRecordValues } from "./link_row.ts";
import { linkWrites } from "./link_writes.ts";
import { scopeDeletions } from "./scope_deletion.ts";

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* SqlConnection.Connection;
  const queries = linkQueries(sql);
  const run = (text: string, values: ReadonlyArray<unknown>) => connection.executeValues(text, values);
  const rowOf = dialectOf(sql).isRemote
    ? batchedLookup<[Pid, ChatId], RowValues>([5, 0], (pairs) =>
        run(queries.byPairs, [JSON.stringify(pairs)]),
      )
    : (pid: Pid, chatId: ChatId) => run(queries.byChatId, [pid, chatId]);
  const rowsOfGame = dialectOf(sql).isRemote
    ? batchedLookup<[Pid, GameId], RowValues>([2, 1], (pairs) =>
        run(queries.byGamePairs, [JSON.stringify(pairs)]),
      )
    : undefined;
  const rowsOfGames = (pid: Pid, gameIds: ReadonlyArray<GameId>) => {
    const [gameId] = gameIds;
    return rowsOfGame !== undefined && gameId !== undefined && gameIds.length === 1
      ? rowsOfGame(pid, gameId)
      : run(queries.byGameIds, [pid, JSON.stringify(gameIds)]);
  };

  return LinkStore.of({
    findByChatId: (pid, chatId) =>
      operation("LinkStore.findByChatId")(Immediate.flatMap(rowOf(pid, chatId), readRecord)),

    findByChatIds: (pid, chatIds) =>
      operation("LinkStore.findByChatIds")(
        Immediate.map(
          Immediate.flatMap(run(queries.byChatIds, [pid, JSON.stringify(chatIds)]), readRecordValues),
          (records) => new Map(records.map((record) => [record.chatId, record])),
        ),
      ),

    findByGameIds: (pid, gameIds) =>
      operation("LinkStore.findByGameIds")(
        Immediate.map(Immediate.flatMap(rowsOfGames(pid, gameIds), readPairs), groupByGame),
      ),

    exportPage: (pid, after, limit) =>
      run(queries.page, [pid, after ?? "", limit]).pipe(
        Effect.flatMap(readRecordValues),
        Effect.map((records) => records.filter(isLinked)),
        operation("LinkStore.exportPage"),
      ),

    ...linkWrites(sql),
    ...linkImports(sql),
    ...scopeDeletions(sql),
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

import { type ChatId, type GameId, LinkStore, type Pid } from "@accountlink/core";
import { groupBy } from "@accountlink/core/group_by";
import {
  type CountOptions,
  isLinked,
  type NewestPosition,
  type PageDirection,
} from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer } from "effect";
import { SqlClient, SqlConnection, type SqlError } from "effect/sql";
import { batched, batchedLookup, withSpanLinks } from "../statements/batching.ts";
import { dialectOf } from "../statements/dialect.ts";
import type { UnreadableRow } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { linkImports } from "./link_import.ts";
import { linkQueries } from "./link_queries.ts";
import {
  type CountStep,
  gamesIn,
  type RowValues,
  readCountSteps,
  readNumbers,
  readPairs,
  readRecord,
  readRecordValues,
} from "./link_row.ts";
import { linkWrites } from "./link_writes.ts";
import { scopeDeletions } from "./scope_deletion.ts";
import { setGameOn } from "./set_game.ts";

const countStep = 20_000;

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const connection = yield* SqlConnection.Connection;
  const queries = linkQueries(sql);
  const run = (text: string, values: ReadonlyArray<unknown>) => connection.executeValues(text, values);
  const rowOf = dialectOf(sql).isRemote
    ? batchedLookup<[Pid, ChatId], RowValues>(
        [5, 0],
        (pairs) => run(queries.byPairs, [JSON.stringify(pairs)]),
        (pid, chatId) => run(queries.byChatId, [pid, chatId]),
      )
    : (pid: Pid, chatId: ChatId) => run(queries.byChatId, [pid, chatId]);
  const findGames = (pid: Pid, chatIds: ReadonlyArray<ChatId>) =>
    Effect.map(run(queries.gamesByChatIds, [pid, JSON.stringify(chatIds)]), gamesIn);
  const gamesOf = dialectOf(sql).isRemote
    ? batched<[Pid, ReadonlyArray<ChatId>], ReadonlyMap<ChatId, GameId>, SqlError.SqlError | UnreadableRow>(
        (inputs, contexts) => {
          const chatIds = inputs.flatMap(([, each]) => each);
          return Effect.map(withSpanLinks(contexts, findGames(inputs[0][0], chatIds)), (gamesOfSome) =>
            inputs.map(([, each]) => gamesOfSome(each)),
          );
        },
        { maxSize: 10, groupOf: ([pid]) => pid },
      )
    : ([pid, chatIds]: [Pid, ReadonlyArray<ChatId>]) =>
        Effect.flatMap(findGames(pid, chatIds), (gamesOfSome) => gamesOfSome(chatIds));
  const rowsOfGame = dialectOf(sql).isRemote
    ? batchedLookup<[Pid, GameId], RowValues>(
        [2, 1],
        (pairs) => run(queries.byGamePairs, [JSON.stringify(pairs)]),
        (pid, gameId) => run(queries.byGame, [pid, gameId]),
      )
    : (pid: Pid, gameId: GameId) => run(queries.byGame, [pid, gameId]);
  const pairsOf = dialectOf(sql).isRemote
    ? (pid: Pid, gameIds: ReadonlySet<GameId>) =>
        run(queries.byGamePairs, [JSON.stringify(Array.from(gameIds, (gameId) => [pid, gameId]))])
    : Effect.fnUntraced(function* (pid: Pid, gameIds: ReadonlySet<GameId>) {
        const rows: Array<ReadonlyArray<RowValues>> = [];
        for (const gameId of gameIds) rows.push(yield* rowsOfGame(pid, gameId));
        return rows.flat();
      });
  const rowsOfGames = (pid: Pid, gameIds: ReadonlyArray<GameId>) => {
    const [gameId] = gameIds;
    return gameId !== undefined && gameIds.length === 1
      ? rowsOfGame(pid, gameId)
      : pairsOf(pid, new Set(gameIds));
  };

  const numberOf = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.map(Effect.flatMap(run(text, values), readNumbers), ([number]) => number);

  /** Counts the links last verified at `time`, in steps, since an import can give many links the same time. */
  const countAt = Effect.fnUntraced(function* (pid: Pid, time: Millis) {
    let links = 0;
    let last: string | null = "";
    while (last !== null) {
      const rows: ReadonlyArray<RowValues> = yield* run(queries.countStepAt, [
        countStep,
        pid,
        time,
        last,
        countStep,
      ]);
      const step: CountStep | undefined = (yield* readCountSteps(rows))[0];
      links += step?.links ?? 0;
      last = step?.last ?? null;
      yield* Effect.yieldNow;
    }
    return links;
  });

  /**
   * Counts the links in steps, from the latest verification to the earliest, because one long SQLite statement would
   * block the process.
   */
  const countLinks = Effect.fnUntraced(function* (pid: Pid, { verified, enough }: CountOptions) {
    const { from, before } = verified ?? { from: 0, before: Number.MAX_SAFE_INTEGER };
    if (enough !== undefined) return (yield* numberOf(queries.countUpTo, [pid, before, from, enough])) ?? 0;
    let links = 0;
    let end: Millis | undefined = before;
    while (end !== undefined) {
      const next: Millis | undefined = yield* numberOf(queries.verifiedAfter, [pid, end, from, countStep]);
      const start = next === undefined ? from : next + 1;
      links += (yield* numberOf(queries.countVerified, [pid, end, start])) ?? 0;
      if (next !== undefined) links += yield* countAt(pid, next);
      end = next;
      yield* Effect.yieldNow;
    }
    return links;
  });

  const recordsOf = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.flatMap(run(text, values), readRecordValues);

  const newestPage = Effect.fnUntraced(function* (
    pid: Pid,
    place: NewestPosition | null,
    limit: number,
    direction: PageDirection = "older",
  ) {
    if (place === null) return yield* recordsOf(queries.newest, [pid, limit]);
    const { lastVerifiedAt, chatId } = place;
    const [atTime, beyond] =
      direction === "older"
        ? [queries.newestAt, queries.newestBefore]
        : [queries.nearestAt, queries.nearestAfter];
    const page = yield* recordsOf(atTime, [pid, lastVerifiedAt, chatId, limit]);
    const left = limit - page.length;
    const whole = left === 0 ? page : [...page, ...(yield* recordsOf(beyond, [pid, lastVerifiedAt, left]))];
    return direction === "older" ? whole : whole.toReversed();
  });

  return LinkStore.of({
    findByChatId: (pid, chatId) =>
      storeOperation("LinkStore.findByChatId")(Effect.flatMap(rowOf(pid, chatId), readRecord)),

    findByChatIds: (pid, chatIds) =>
      storeOperation("LinkStore.findByChatIds")(
        Effect.map(
          Effect.flatMap(run(queries.byChatIds, [pid, JSON.stringify(chatIds)]), readRecordValues),
          (records) => new Map(records.map((record) => [record.chatId, record])),
        ),
      ),

    findGamesByChatIds: (pid, chatIds) =>
      storeOperation("LinkStore.findGamesByChatIds")(gamesOf([pid, chatIds])),

    findByGameIds: (pid, gameIds) =>
      storeOperation("LinkStore.findByGameIds")(
        Effect.map(Effect.flatMap(rowsOfGames(pid, gameIds), readPairs), groupByGame),
      ),

    countLinks: (pid, options = {}) => storeOperation("LinkStore.countLinks")(countLinks(pid, options)),

    newestPage: (pid, place, limit, direction) =>
      newestPage(pid, place, limit, direction).pipe(
        Effect.map((records) => records.filter(isLinked)),
        storeOperation("LinkStore.newestPage"),
      ),

    exportPage: (pid, after, limit) =>
      run(queries.page, [pid, after ?? "", limit]).pipe(
        Effect.flatMap(readRecordValues),
        Effect.map((records) => records.filter(isLinked)),
        storeOperation("LinkStore.exportPage"),
      ),

    ...setGameOn(sql),
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
  const groups = groupBy(pairs, ({ gameId }) => gameId);
  return new Map(Array.from(groups, ([gameId, group]) => [gameId, group.map(({ chatId }) => chatId)]));
};

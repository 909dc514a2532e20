/** Finds links by ID, and decodes rows of `links`: without Schema, since every lookup decodes one. */
import type { ChatId, GameId, LinkStore, Pid } from "@accountlink/core";
import { groupBy } from "@accountlink/core/group_by";
import { type GameSet, isLinkProof, type LinkRecord, maxChatsOfGame } from "@accountlink/core/links";
import { Effect, Exit, Option } from "effect";
import type { SqlConnection, SqlError, Statement } from "effect/sql";
import { batched, batchedLookup, withSpanLinks } from "../statements/batching.ts";
import { literalSql, readerOf, UnreadableRow } from "../statements/row.ts";
import { type StoreParts, storeOperation } from "../statements/store_operation.ts";

/** A row as an array of values in column order: cheaper than an object for lookups. */
type RowValues = ReadonlyArray<unknown>;

/** Runs a statement on the connection for lookups, where it does not wait for writes. */
export const valuesOn =
  (connection: SqlConnection.Connection) =>
  (statement: Statement.Statement<unknown>): Effect.Effect<ReadonlyArray<RowValues>, SqlError.SqlError> =>
    connection.executeValues(...statement.compile());

export const linkLookups = (parts: StoreParts) => {
  const { sql, connection, operation, isAmong, isRemote } = parts;
  const values = valuesOn(connection);
  const texts = hotStatements(parts);
  const run = (text: string, params: ReadonlyArray<unknown>) => connection.executeValues(text, params);

  const byChatId = batchedLookup<[Pid, ChatId], RowValues>(parts, {
    columns: [7, 0],
    one: (pid, chatId) => run(texts.byChatId, [pid, chatId]),
    several: (pairs) => run(texts.byPairs, [JSON.stringify(pairs)]),
  });

  const byGame = batchedLookup<[Pid, GameId], RowValues>(parts, {
    columns: [2, 1],
    one: (pid, gameId) => run(texts.byGame, [pid, gameId, maxChatsOfGame]),
    several: (pairs) => run(texts.byGamePairs, [JSON.stringify(pairs), maxChatsOfGame]),
  });

  /** Reads many rows, which lookups by others would wait for on the connection that they share. */
  const byGames = (pid: Pid, gameIds: ReadonlyArray<GameId>, most: number) => {
    if (isRemote) {
      const pairs = Array.from(new Set(gameIds), (gameId) => [pid, gameId]);
      return sql.unsafe(texts.byGamePairs, [JSON.stringify(pairs), most]).values;
    }
    const each = Effect.forEach(new Set(gameIds), (gameId) => run(texts.byGame, [pid, gameId, most]));
    return Effect.map(each, (rows) => rows.flat());
  };

  const gamesOf = batched<[Pid, ReadonlyArray<ChatId>], ReadonlyMap<ChatId, GameId>, ReadError>(
    parts,
    (inputs, contexts) => {
      const ids = inputs.flatMap(([, chatIds]) => chatIds);
      const games = values(
        sql`
          SELECT chat_id, game_id FROM links
          WHERE pid = ${inputs[0][0]} AND chat_id ${isAmong(ids)} AND ${isLeft}`,
      );
      return Effect.map(withSpanLinks(contexts, games), (rows) => {
        const found = new Map(rows as ReadonlyArray<[chatId: unknown, gameId: unknown]>);
        return inputs.map(([, chatIds]) => gamesIn(found, chatIds));
      });
    },
    { maxSize: 10, groupOf: ([pid]) => pid },
  );

  return {
    findByChatId: (pid, chatId) =>
      storeOperation("LinkStore.findByChatId")(Effect.flatMap(byChatId(pid, chatId), readRecord)),

    findByChatIds: operation("findByChatIds", function* (pid, chatIds) {
      const records = yield* readRecordValues(
        values(sql`
          SELECT ${recordColumns} FROM links WHERE pid = ${pid} AND chat_id ${isAmong(chatIds)} AND ${isLeft}`),
      );
      return new Map(records.map((record) => [record.chatId, record]));
    }),

    findGamesByChatIds: (pid, chatIds) =>
      storeOperation("LinkStore.findGamesByChatIds")(gamesOf([pid, chatIds])),

    findByGameIds: (pid, gameIds, enough = maxChatsOfGame) => {
      const [gameId] = gameIds;
      const rows =
        gameId !== undefined && gameIds.length === 1 ? byGame(pid, gameId) : byGames(pid, gameIds, enough);
      return storeOperation("LinkStore.findByGameIds")(Effect.map(readPairs(rows), chatsByGame));
    },
  } satisfies Partial<LinkStore["Service"]>;
};

/**
 * The statements of nearly all requests as constant texts: building a statement from a template takes 4 µs, as long as
 * SQLite takes to run it.
 */
const hotStatements = ({ sql, elements, isRemote }: StoreParts) => ({
  /** Parameters: pid, chat ID. */
  byChatId: textOf(
    sql`SELECT ${recordColumns} FROM links WHERE pid = ${""} AND chat_id = ${""} AND ${isLeft}`,
  ),

  /**
   * The last column is the pid. The LIMIT forces an index lookup for each pair; a plain join would scan a partitioned
   * table. Parameter: pairs of pid and chat ID as JSON.
   */
  byPairs: textOf(sql`
    SELECT found.* FROM ${elements("")} CROSS JOIN LATERAL (
      SELECT ${recordColumns}, pid FROM links
      WHERE pid = value ->> 0 AND chat_id = value ->> 1 AND ${isLeft} LIMIT 1
    ) AS found`),

  /** Parameters: pid, game ID, the most rows. */
  byGame: textOf(sql`
    SELECT chat_id, game_id FROM links
    WHERE pid = ${""} AND game_id = ${""} AND ${isRemote ? isLeft : isLeftEach}
    ORDER BY linked_at DESC, chat_id LIMIT ${0}`),

  /**
   * The LIMIT forces an index lookup for each pair, as above. Parameters: pairs of pid and game ID as JSON, the most rows
   * of each.
   */
  byGamePairs: textOf(sql`
    SELECT found.chat_id, found.game_id, found.pid FROM ${elements("")} CROSS JOIN LATERAL (
      SELECT chat_id, game_id, pid, linked_at FROM links
      WHERE pid = value ->> 0 AND game_id = value ->> 1 AND ${isLeft}
      ORDER BY linked_at DESC, chat_id LIMIT ${0}
    ) AS found
    ORDER BY found.linked_at DESC, found.chat_id`),
});

const notRemoved =
  "NOT EXISTS (SELECT 1 FROM block_removals AS r WHERE r.pid = links.pid AND r.game_id = links.game_id)";

/**
 * Leaves out links that a block is removing. The table is nearly always empty, which a statement asks once: asked of each
 * row, it was a third of the time that Postgres took for a bulk.
 */
const isLeft = literalSql(`(NOT EXISTS (SELECT 1 FROM block_removals) OR ${notRemoved})`);

/** The same, asked of each row: of the few rows of one game account, it takes SQLite a fifth less time. */
const isLeftEach = literalSql(notRemoved);

const textOf = (query: Statement.Statement<unknown>): string => query.compile()[0];

const digits = /^\d{1,32}$/;
export const isId = (value: unknown): value is string => typeof value === "string" && digits.test(value);
export const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

type ReadError = SqlError.SqlError | UnreadableRow;

export const recordColumns = literalSql(
  "chat_id, game_id, link_version, linked_at, last_verified_at, proof, proven_at",
);

const recordOf = (
  chatId: unknown,
  gameId: unknown,
  linkVersion: unknown,
  linkedAt: unknown,
  lastVerifiedAt: unknown,
  proof: unknown,
  provenAt: unknown,
): LinkRecord | undefined => {
  if (!isId(chatId) || !(gameId === null || isId(gameId))) return undefined;
  if (!isWhole(linkVersion) || !isWhole(linkedAt) || !isWhole(lastVerifiedAt)) return undefined;
  if (!isLinkProof(proof)) return undefined;
  const record: LinkRecord = {
    chatId: chatId as ChatId,
    gameId: gameId as GameId | null,
    linkVersion,
    linkedAt,
    lastVerifiedAt,
    proof,
  };
  if (provenAt === null) return record;
  return isWhole(provenAt) ? { ...record, provenAt } : undefined;
};

export const recordIn = (row: SqlConnection.Row) =>
  recordOf(
    row["chat_id"],
    row["game_id"],
    row["link_version"],
    row["linked_at"],
    row["last_verified_at"],
    row["proof"],
    row["proven_at"],
  );

export const readRecords = readerOf("links", recordIn);

const recordInValues = (row: RowValues) => recordOf(row[0], row[1], row[2], row[3], row[4], row[5], row[6]);

export const readRecordValues = readerOf("links", recordInValues);

const readRecord = ([row]: ReadonlyArray<RowValues>): Exit.Exit<Option.Option<LinkRecord>, UnreadableRow> => {
  if (row === undefined) return Exit.succeed(Option.none());
  const record = recordInValues(row);
  return record === undefined
    ? Exit.fail(new UnreadableRow({ table: "links" }))
    : Exit.succeed(Option.some(record));
};

const gameOf = (value: unknown): GameId | null | undefined =>
  value === null || isId(value) ? (value as GameId | null) : undefined;

export const unlinkedIn = (row: SqlConnection.Row) => {
  const [removedGameId, linkVersion] = [gameOf(row["previous_game_id"]), row["link_version"]];
  return isId(removedGameId) && isWhole(linkVersion) ? { removedGameId, linkVersion } : undefined;
};

export const readUnlinked = readerOf("links", unlinkedIn);

export const setIn = (row: SqlConnection.Row): GameSet | undefined => {
  const [record, previousGameId] = [recordIn(row), gameOf(row["previous_game_id"])];
  if (record === undefined || record.gameId === null || previousGameId === undefined) return undefined;
  return { record, previousGameId };
};

export const readSets = readerOf("links", setIn);

const readPairs = readerOf("links", ([chatId, gameId]: RowValues) =>
  isId(chatId) && isId(gameId) ? { chatId: chatId as ChatId, gameId: gameId as GameId } : undefined,
);

const gamesIn = (
  found: ReadonlyMap<unknown, unknown>,
  chatIds: ReadonlyArray<ChatId>,
): Exit.Exit<ReadonlyMap<ChatId, GameId>, UnreadableRow> => {
  const games = new Map<ChatId, GameId>();
  for (const chatId of chatIds) {
    const gameId = found.get(chatId);
    if (gameId === undefined || gameId === null) continue;
    if (!isId(gameId)) return Exit.fail(new UnreadableRow({ table: "links" }));
    games.set(chatId, gameId as GameId);
  }
  return Exit.succeed(games);
};

const chatsByGame = (
  pairs: ReadonlyArray<{ readonly chatId: ChatId; readonly gameId: GameId }>,
): ReadonlyMap<GameId, ReadonlyArray<ChatId>> =>
  groupBy(
    pairs,
    ({ gameId }) => gameId,
    ({ chatId }) => chatId,
  );

/** Transactions over imports and links. */
import { ChatId, type GameId, type Pid } from "@accountlink/core";
import { holdersOf, type ImportTx, type ImportTxBody } from "@accountlink/core/imports";
import type { Tx } from "@accountlink/core/records";
import { Effect } from "effect";
import type { SqlError } from "effect/sql";
import { insertPart } from "../journal/records.ts";
import { admissionOn, type Marks } from "../links/admitted_links.ts";
import { readRecords, recordColumns } from "../links/link_lookups.ts";
import { withTx } from "../records.ts";
import { columnReader, tableOf, type UnreadableRow } from "../statements/row.ts";
import type { StoreParts } from "../statements/store_operation.ts";

/** The operations of a transaction whose statements may fail. */
type OnSql<T> = {
  readonly [Name in keyof T]: T[Name] extends (...args: infer Args) => Effect.Effect<infer A, infer _>
    ? (...args: Args) => Effect.Effect<A, SqlError.SqlError | UnreadableRow>
    : T[Name];
};

/**
 * Runs the body of a transaction over imports and links on a connection.
 *
 * @param locked what the scope, which the transaction has locked, says of links that it admits; null for a read
 */
export const inImportTx = <A>(parts: StoreParts, locked: Marks | null, body: ImportTxBody<A>) =>
  withTx(parts.sql, (tx) => body(importTxOn(parts, tx, locked)), locked !== null);

const importTxOn = ({ sql, elements, forUpdate, isAmong }: StoreParts, tx: Tx, locked: Marks | null) => {
  const marksOf = (pid: Pid) => (locked === null ? admissionOn(sql).marksOf(pid) : Effect.succeed(locked));
  const linesOf = (links: ReadonlyArray<{ readonly chatId: ChatId; readonly gameId: GameId }>) =>
    elements(JSON.stringify(links.map(({ chatId, gameId }) => [chatId, gameId])));

  const own = {
    records: (pid, chatIds) =>
      Effect.map(
        readRecords(sql`
          SELECT ${recordColumns} FROM links WHERE pid = ${pid} AND chat_id ${isAmong(chatIds)}
          ORDER BY chat_id ${locked === null ? sql.literal("") : forUpdate}`),
        (found) => new Map(found.map((record) => [record.chatId, record])),
      ),

    putRecords: (pid, records) => {
      const rows = records.map(({ provenAt = null, ...record }) => {
        const { chatId, gameId, linkVersion, linkedAt, lastVerifiedAt, proof } = record;
        return [chatId, gameId, linkVersion, linkedAt, lastVerifiedAt, proof, provenAt];
      });
      return sql`
        INSERT INTO links (pid, ${recordColumns})
        SELECT ${pid}, value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT), CAST(value ->> 3 AS BIGINT),
          CAST(value ->> 4 AS BIGINT), value ->> 5, CAST(value ->> 6 AS BIGINT)
        FROM ${elements(JSON.stringify(rows))} WHERE true
        ON CONFLICT (pid, chat_id) DO UPDATE SET previous_game_id = links.game_id,
          game_id = excluded.game_id, link_version = excluded.link_version, linked_at = excluded.linked_at,
          last_verified_at = excluded.last_verified_at, proof = excluded.proof, proven_at = excluded.proven_at`;
    },

    unblocked: Effect.fnUntraced(function* (pid, links) {
      if (links.length === 0 || !(yield* marksOf(pid)).hasBlocks) return links;
      const blocked = new Set(
        yield* readLeftOut(sql`
          SELECT value ->> 0 AS left_out FROM ${linesOf(links)}
          WHERE EXISTS (SELECT 1 FROM blocks WHERE pid = ${pid} AND chat_id = value ->> 0)
            OR EXISTS (SELECT 1 FROM blocks WHERE pid = ${pid} AND game_id = value ->> 1)`),
      );
      return links.filter(({ chatId }) => !blocked.has(chatId));
    }),

    holders: Effect.fnUntraced(function* (pid, links, leaving) {
      if (links.length === 0 || !(yield* marksOf(pid)).oneChatUser) return new Map<ChatId, ChatId>();
      const isStaying = leaving.length === 0 ? sql.literal("") : sql`AND NOT (chat_id ${isAmong(leaving)})`;
      const found = yield* readHolders(sql`
        SELECT chat_id, holder FROM (
          SELECT value ->> 0 AS chat_id, (
            SELECT chat_id FROM links
            WHERE pid = ${pid} AND game_id = value ->> 1 AND chat_id <> value ->> 0 ${isStaying}
            ORDER BY linked_at DESC, chat_id LIMIT 1
          ) AS holder
          FROM ${linesOf(links)}
        ) AS found WHERE holder IS NOT NULL`);
      const stored = new Map(found);
      return holdersOf(
        links,
        links.map(({ chatId }) => stored.get(chatId)),
      );
    }),

    journalPart: (pid, part, first, isTold) => insertPart(sql, pid, part, first, isTold),

    mostUndone: Infinity,
  } satisfies OnSql<Omit<ImportTx, keyof Tx>>;
  // The operation turns failures of statements into StoreUnavailable.
  return { ...tx, ...own } as unknown as ImportTx;
};

const readLeftOut = columnReader("links", "left_out", ChatId);

const readHolders = tableOf("links", { chatId: ChatId, holder: ChatId }).reader(
  ({ chatId, holder }) => [chatId, holder] as const,
);

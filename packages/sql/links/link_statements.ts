import type { ChatId, GameId, Pid } from "@accountlink/core";
import { gameProofs, type LinkProof, noTime, ownProofs } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { literalSql } from "../statements/row.ts";
import { recordColumns } from "./link_lookups.ts";

/**
 * Statements that write links. They return the replaced game as `previous_game_id`, because RETURNING sees only the new
 * values of a row.
 */
interface NewLink {
  readonly pid: Pid;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly at: Millis;
  readonly proof: LinkProof;
  /** The conflict clause for a chat user with a record. */
  readonly existing: Statement.Fragment;
}

export const linkStatements = (sql: SqlClient.SqlClient) => {
  const { forUpdate, forReference } = dialectOf(sql);
  return {
    /**
     * Returns the record, or nothing if the conflict clause `existing` kept the old record. Locks the scope before the
     * record, like deleteScope, to avoid deadlocks. Otherwise, the foreign key check would lock the scope after the
     * record.
     */
    link: ({ pid, chatId, gameId, at, proof, existing }: NewLink) => sql`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at, proof)
      SELECT pid, ${chatId}, ${gameId}, 1, ${at}, ${at}, ${proof} FROM scopes WHERE pid = ${pid} ${forReference}
      ON CONFLICT (pid, chat_id) ${existing}
      RETURNING ${recordColumns}, previous_game_id`,

    /** Returns the removed game, or nothing if there was no link. */
    unlink: (pid: Pid, chatId: ChatId, at: Millis) => sql`
      UPDATE links
      SET previous_game_id = game_id, game_id = NULL, link_version = link_version + 1,
        removed_linked_at = linked_at, linked_at = ${at}
      WHERE pid = ${pid} AND chat_id = ${chatId} AND game_id IS NOT NULL
      RETURNING previous_game_id, link_version`,

    /** Returns the record, or nothing if another write has changed it since the removal. */
    restore: (pid: Pid, chatId: ChatId, gameId: GameId, removedAt: Millis) => sql`
      UPDATE links
      SET previous_game_id = NULL, game_id = ${gameId}, link_version = link_version + 1,
        linked_at = removed_linked_at
      WHERE pid = ${pid} AND chat_id = ${chatId} AND game_id IS NULL AND linked_at = ${removedAt}
        AND removed_linked_at IS NOT NULL
      RETURNING ${recordColumns}, previous_game_id`,

    /** Returns both records, locked in sorted order to avoid deadlocks. */
    lock: (pid: Pid, one: ChatId, other: ChatId) => sql`
      SELECT ${recordColumns} FROM links
      WHERE pid = ${pid} AND chat_id IN (${one}, ${other})
      ORDER BY chat_id ${forUpdate}`,

    /** Inserts an empty record, which locks a chat user without a record. Does nothing if the old user has no link. */
    placeholder: (pid: Pid, chatId: ChatId, oldChatId: ChatId, at: Millis) => sql`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
      SELECT pid, ${chatId}, NULL, 0, ${at}, ${at} FROM links
      WHERE pid = ${pid} AND chat_id = ${oldChatId} AND game_id IS NOT NULL
      ON CONFLICT (pid, chat_id) DO NOTHING`,

    removePlaceholder: (pid: Pid, chatId: ChatId) => sql`
      DELETE FROM links WHERE pid = ${pid} AND chat_id = ${chatId} AND link_version = 0`,

    /** Locks the scope, so that a deletion of the scope waits for the end of this transaction. */
    lockScope: (pid: Pid) => sql`SELECT pid FROM scopes WHERE pid = ${pid} ${forReference}`,
  };
};

/**
 * The conflict clause of a statement that writes a link: it sets the game, the version and the times of an existing
 * record.
 */
export const relinkOf = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.literal(`DO UPDATE SET
    previous_game_id = links.game_id,
    game_id = excluded.game_id,
    link_version = links.link_version + CASE WHEN links.game_id = excluded.game_id THEN 0 ELSE 1 END,
    linked_at = CASE WHEN links.game_id = excluded.game_id THEN links.linked_at ELSE excluded.linked_at END,
    last_verified_at = excluded.last_verified_at,
    proof = CASE WHEN ${keepsProof} THEN links.proof ELSE excluded.proof END,
    proven_at = CASE WHEN ${keepsProof} THEN COALESCE(links.proven_at, links.last_verified_at) END`);

/** Whether a record says that its user was never linked, see `isOrWasLinked` of core. */
export const isNone = literalSql(`links.game_id IS NULL AND links.linked_at = ${noTime}`);

/** Whether a link has one of these proofs, and the write none of them. */
const isLess = (proofs: ReadonlyArray<string>): string => {
  const quoted = proofs.map((proof) => `'${proof}'`).join(", ");
  return `(links.proof IN (${quoted}) AND (excluded.proof IS NULL OR excluded.proof NOT IN (${quoted})))`;
};

/** Whether a write with a lesser proof names the account that is proven, see `confirmedRecord` of core. */
const keepsProof = `links.game_id = excluded.game_id AND (${isLess(ownProofs)} OR ${isLess(gameProofs)})`;

import { type ChatId, Conflict, type GameId, type Pid } from "@accountlink/core";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { rollBack } from "../statements/store_operation.ts";

/** The users of a link that a write would make. */
export interface LinkToCheck {
  readonly pid: Pid;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Finds the block of an erased chat user. */
  readonly chatHash?: string | undefined;
}

/** Returns whether a link is blocked. The transaction has locked the scope before. */
export const isBlockedOn =
  (sql: SqlClient.SqlClient) =>
  ({ pid, chatId, gameId, chatHash = "" }: LinkToCheck) =>
    Effect.map(
      sql`
        SELECT 1 FROM blocks WHERE pid = ${pid} AND chat_id = ${chatId}
        UNION ALL SELECT 1 FROM blocks WHERE pid = ${pid} AND game_id = ${gameId}
        UNION ALL SELECT 1 FROM blocks WHERE pid = ${pid} AND user_hash = ${chatHash}
        LIMIT 1`,
      (found) => found.length > 0,
    );

/** Refuses a link that is blocked. Locks the scope before, so that no block comes between check and write. */
export const refuseBlockedOn = (sql: SqlClient.SqlClient) => {
  const { forReference, isRemote } = dialectOf(sql);
  const isBlocked = isBlockedOn(sql);
  return Effect.fnUntraced(function* (link: LinkToCheck) {
    if (isRemote) yield* sql`SELECT pid FROM scopes WHERE pid = ${link.pid} ${forReference}`;
    if (yield* isBlocked(link)) yield* rollBack(new Conflict({ reason: "blocked" }));
  });
};

import { type ChatId, Conflict, type GameId, type Pid } from "@accountlink/core";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader } from "../statements/row.ts";
import { rollBack } from "../statements/store_operation.ts";

/** The users of a link that a write would make. */
export interface LinkToCheck {
  readonly pid: Pid;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Makes the hash that finds the block of an erased chat user. */
  readonly chatHash?: Effect.Effect<string> | undefined;
}

/**
 * Returns whether a link is blocked. Locks the scope before, so that no block comes between check and write. In a scope that
 * never had a block, it makes no hash.
 */
export const isBlockedOn = (sql: SqlClient.SqlClient) => {
  const { forReference } = dialectOf(sql);
  return Effect.fnUntraced(function* ({ pid, chatId, gameId, chatHash = noHash }: LinkToCheck) {
    const [hasBlocks] = yield* readMarks(
      sql`SELECT has_blocks FROM scopes WHERE pid = ${pid} ${forReference}`,
    );
    if (hasBlocks !== 1) return false;
    const found = yield* sql`
      SELECT 1 FROM blocks WHERE pid = ${pid} AND chat_id = ${chatId}
      UNION ALL SELECT 1 FROM blocks WHERE pid = ${pid} AND game_id = ${gameId}
      UNION ALL SELECT 1 FROM blocks WHERE pid = ${pid} AND user_hash = ${yield* chatHash}
      LIMIT 1`;
    return found.length > 0;
  });
};

/** Refuses a link that is blocked. */
export const refuseBlockedOn = (sql: SqlClient.SqlClient) => {
  const isBlocked = isBlockedOn(sql);
  return (link: LinkToCheck) =>
    Effect.flatMap(isBlocked(link), (blocked) =>
      blocked ? rollBack(new Conflict({ reason: "blocked" })) : Effect.void,
    );
};

const noHash = Effect.succeed("");

const readMarks = columnReader("scopes", "has_blocks", Schema.Int);

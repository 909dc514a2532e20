/** Which links a scope admits: no user of them is blocked, and no other chat user has the game user if it allows one. */
import { ChatId, Conflict, type GameId, type Pid } from "@accountlink/core";
import { mostTaken } from "@accountlink/core/links";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader, tableOf } from "../statements/row.ts";
import { rollBack } from "../statements/store_operation.ts";

/** The users of a link that a write would make. */
export interface LinkToCheck {
  readonly pid: Pid;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Makes the hash that finds the block of an erased chat user. */
  readonly chatHash?: Effect.Effect<string> | undefined;
}

const marked = { hasBlocks: Schema.BooleanFromBit, oneChatUser: Schema.BooleanFromBit };

const readMarks = tableOf("scopes", marked).reader((row) => row);

const readChatIds = columnReader("links", "chat_id", ChatId);

const noHash = Effect.succeed("");

/**
 * Returns whether a link is blocked, and the other chat users of its game user if the scope allows one. Locks the scope
 * before, so that no block comes between check and write, and the game user, so that of two links at once the second sees
 * the first. In a scope that never had a block, it makes no hash.
 */
export const admissionOn = (sql: SqlClient.SqlClient) => {
  const { forReference, isRemote } = dialectOf(sql);

  const isBlocked = Effect.fnUntraced(function* ({ pid, chatId, gameId, chatHash = noHash }: LinkToCheck) {
    const found = yield* sql`
      SELECT 1 FROM blocks WHERE pid = ${pid} AND chat_id = ${chatId}
      UNION ALL SELECT 1 FROM blocks WHERE pid = ${pid} AND game_id = ${gameId}
      UNION ALL SELECT 1 FROM blocks WHERE pid = ${pid} AND user_hash = ${yield* chatHash}
      LIMIT 1`;
    return found.length > 0;
  });

  const takenBy = Effect.fnUntraced(function* ({ pid, chatId, gameId }: LinkToCheck) {
    if (isRemote) yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${pid} ${gameId}`}, 0))`;
    return yield* readChatIds(sql`
      SELECT chat_id FROM links WHERE pid = ${pid} AND game_id = ${gameId} AND chat_id <> ${chatId}
      ORDER BY linked_at DESC, chat_id LIMIT ${mostTaken}`);
  });

  return Effect.fnUntraced(function* (link: LinkToCheck) {
    const [marks] = yield* readMarks(
      sql`SELECT has_blocks, one_chat_user FROM scopes WHERE pid = ${link.pid} ${forReference}`,
    );
    return {
      isBlocked: marks?.hasBlocks === true && (yield* isBlocked(link)),
      takenBy: marks?.oneChatUser === true ? yield* takenBy(link) : [],
    };
  });
};

/** Refuses a link that the scope does not admit. @param movesFrom a chat user who loses the link */
export const refuseUnadmittedOn = (sql: SqlClient.SqlClient) => {
  const admission = admissionOn(sql);
  return Effect.fnUntraced(function* (link: LinkToCheck, movesFrom: ChatId | null = null) {
    const { isBlocked, takenBy } = yield* admission(link);
    if (isBlocked) yield* rollBack(new Conflict({ reason: "blocked" }));
    if (takenBy.some((chatId) => chatId !== movesFrom))
      yield* rollBack(new Conflict({ reason: "game_taken" }));
  });
};

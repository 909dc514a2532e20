/** Which links a scope admits: no user of them is blocked, and no other chat user has the game user if it allows one. */
import { ChatId, Conflict, type GameId, type Pid } from "@accountlink/core";
import { mostTaken } from "@accountlink/core/links";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader, tableOf, type ValuesOf } from "../statements/row.ts";
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

/** What the scope says of links that it admits. */
export type Marks = ValuesOf<typeof marked>;

const readMarks = tableOf("scopes", marked).reader((row) => row);

const readChatIds = columnReader("links", "chat_id", ChatId);

const noHash = Effect.succeed("");

/** The checks of links. They need the marks that `lock` returned in their transaction. */
export const admissionOn = (sql: SqlClient.SqlClient) => {
  const { forReference, forChange } = dialectOf(sql);

  const marksOf = Effect.fnUntraced(function* (pid: Pid, held = sql.literal("")) {
    const found = sql`SELECT has_blocks, one_chat_user FROM scopes WHERE pid = ${pid} ${held}`;
    const [marks = { hasBlocks: false, oneChatUser: false }] = yield* readMarks(found);
    return marks;
  });

  /**
   * Locks the scope before the records of a write that gives chat users game users. No block comes between check and
   * write, and in a scope that allows one chat user, no other such write.
   */
  const lock = Effect.fnUntraced(function* (pid: Pid) {
    const lockAlone = sql`SELECT pid FROM scopes WHERE pid = ${pid} AND one_chat_user = 1 ${forChange}`;
    const alone = yield* lockAlone;
    const marks = yield* marksOf(pid, forReference);
    // Repeated only if the setting changed in between, because two writes would deadlock on their first locks.
    if (marks.oneChatUser && alone.length === 0) yield* lockAlone;
    return marks;
  });

  const isBlocked = Effect.fnUntraced(function* ({ pid, chatId, gameId, chatHash = noHash }: LinkToCheck) {
    const found = yield* sql`
      SELECT 1 FROM blocks WHERE pid = ${pid} AND chat_id = ${chatId}
      UNION ALL SELECT 1 FROM blocks WHERE pid = ${pid} AND game_id = ${gameId}
      UNION ALL SELECT 1 FROM blocks WHERE pid = ${pid} AND user_hash = ${yield* chatHash}
      LIMIT 1`;
    return found.length > 0;
  });

  const takenBy = ({ pid, chatId, gameId }: LinkToCheck) =>
    readChatIds(sql`
      SELECT chat_id FROM links WHERE pid = ${pid} AND game_id = ${gameId} AND chat_id <> ${chatId}
        AND NOT EXISTS (SELECT 1 FROM links WHERE pid = ${pid} AND chat_id = ${chatId} AND game_id = ${gameId})
      ORDER BY linked_at DESC, chat_id LIMIT ${mostTaken}`);

  /**
   * Returns whether a link is blocked, and the other chat users of its game user if the scope allows one; none for a link
   * that is there. In a scope that never had a block, it makes no hash.
   */
  const admission = Effect.fnUntraced(function* ({ hasBlocks, oneChatUser }: Marks, link: LinkToCheck) {
    return {
      isBlocked: hasBlocks && (yield* isBlocked(link)),
      takenBy: oneChatUser ? yield* takenBy(link) : [],
    };
  });

  /** Refuses a link that the scope does not admit. @param movesFrom a chat user who loses the link */
  const refuse = Effect.fnUntraced(function* (
    marks: Marks,
    link: LinkToCheck,
    movesFrom: ChatId | null = null,
  ) {
    const admitted = yield* admission(marks, link);
    if (admitted.isBlocked) yield* rollBack(new Conflict({ reason: "blocked" }));
    if (admitted.takenBy.some((chatId) => chatId !== movesFrom))
      yield* rollBack(new Conflict({ reason: "game_taken" }));
  });

  return { marksOf, lock, admission, refuse };
};

/** What a log tells besides the events of the feed. */
import { Schema } from "effect";
import { ChatId, GameId } from "../ids.ts";

/** @internal */
export const alikeLevels = ["HIGH", "CRITICAL"] as const;

/**
 * `alike`: a user linked an account, and other users are likely the same person. `refused`: a user that the community
 * does not admit tried to link an account.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const entry = { is: "alike", chatId: "100001", gameId: "1", level: "HIGH" };
 * Schema.is(LogEntry)(entry); // true
 * ```
 */
export const LogEntry = Schema.Union([
  Schema.Struct({
    is: Schema.Literal("alike"),
    chatId: ChatId,
    gameId: GameId,
    level: Schema.Literals(alikeLevels),
  }),
  Schema.Struct({
    is: Schema.Literal("refused"),
    chatId: ChatId,
    /** Null if the user had not chosen an account yet. */
    gameId: Schema.NullOr(GameId),
    why: Schema.Literals(["blocked", "too_young"]),
  }),
]);
export type LogEntry = typeof LogEntry.Type;

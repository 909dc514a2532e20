/**
 * Accounts as the pages of a flow show them.
 */
import { Effect, Option } from "effect";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { isLinked } from "../link.ts";
import { LinkStore } from "../ports/link_store.ts";
import { Profiles } from "../services/profiles.ts";

export const shownAccounts = Effect.gen(function* () {
  const links = yield* LinkStore;
  const profiles = yield* Profiles;

  // No page shows the place in the guild.
  const chat = (id: ChatId) => Effect.map(profiles.chat(id, null), (profile) => ({ id, profile }));
  const game = (id: GameId) => Effect.map(profiles.game(id), (profile) => ({ id, profile }));
  const replaced = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId, gameId: GameId) {
    const record = Option.getOrNull(yield* links.findByChatId(pid, chatId));
    return record === null || !isLinked(record) || record.gameId === gameId ? null : record.gameId;
  });

  const accounts = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId | null, gameId: GameId | null) {
    const replacedId = chatId === null || gameId === null ? null : yield* replaced(pid, chatId, gameId);
    return yield* Effect.all(
      {
        chat: orNull(chatId, chat),
        game: orNull(gameId, game),
        replaces: orNull(replacedId, game),
      },
      { concurrency: 3 },
    );
  });

  return { chat, game, accounts };
});

const orNull = <A, B, E>(value: A | null, use: (value: A) => Effect.Effect<B, E>) =>
  value === null ? Effect.succeed(null) : use(value);

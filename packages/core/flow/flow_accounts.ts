/** Reads the accounts of a flow with the profiles that its pages show. */
import { Effect, Option } from "effect";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { isLinked } from "../links/link.ts";
import { LinkStore } from "../links/link_store.ts";
import { Profiles } from "../platforms/profiles.ts";

export const makeFlowAccounts = Effect.gen(function* () {
  const links = yield* LinkStore;
  const profiles = yield* Profiles;

  // Reads profiles without the membership in a guild, because no page shows the membership.
  const chat = (id: ChatId) => Effect.map(profiles.chat(id, null), (profile) => ({ id, profile }));
  const game = (id: GameId) => Effect.map(profiles.game(id), (profile) => ({ id, profile }));

  const both = (chatId: ChatId, gameId: GameId) =>
    Effect.all({ chat: chat(chatId), game: game(gameId) }, { concurrency: 2 });

  /** Returns the linked game account that a new link would replace, or null. */
  const replacedBy = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId, gameId: GameId) {
    const record = Option.getOrNull(yield* links.findByChatId(pid, chatId));
    return record === null || !isLinked(record) || record.gameId === gameId ? null : record.gameId;
  });

  const all = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId | null, gameId: GameId | null) {
    const replacedId = chatId === null || gameId === null ? null : yield* replacedBy(pid, chatId, gameId);
    return yield* Effect.all(
      {
        chat: orNull(chatId, chat),
        game: orNull(gameId, game),
        replaces: orNull(replacedId, game),
      },
      { concurrency: 3 },
    );
  });

  return { chat, both, all };
});

const orNull = <A, B, E>(value: A | null, use: (value: A) => Effect.Effect<B, E>) =>
  value === null ? Effect.succeed(null) : use(value);

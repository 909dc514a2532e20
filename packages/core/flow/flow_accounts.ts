import { Context, Effect, Layer, Option } from "effect";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { isLinked, LinkStore } from "../links/mod.ts";
import { Profiles } from "../platforms/profiles.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { VerificationFlow } from "./flow_store.ts";
import type { KnownAccount } from "./flow_view.ts";
import { wordsOf } from "./words/words.ts";

/** The accounts of a flow, as its pages show them. */
export class FlowAccounts extends Context.Service<FlowAccounts>()("@accountlink/core/FlowAccounts", {
  make: Effect.gen(function* () {
    const links = yield* LinkStore;
    const profiles = yield* Profiles;
    const secrets = yield* Secrets;

    // Reads profiles without the membership in a guild, because no page shows the membership.
    const chat = (id: ChatId) => Effect.map(profiles.chat(id, null), (profile) => ({ id, profile }));
    const game = (id: GameId) => Effect.map(profiles.game(id), (profile) => ({ id, profile }));

    const known = (found: ReadonlyArray<KnownAccount>) =>
      forEachLimited(found, (each) => Effect.map(game(each.id), (account) => ({ ...each, ...account })), {
        concurrency: 3,
      });

    const both = (chatId: ChatId, gameId: GameId) =>
      Effect.all({ chat: chat(chatId), game: game(gameId) }, { concurrency: "unbounded" });

    /** Returns the linked game account that a new link would replace, or null. */
    const replacedBy = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId, gameId: GameId) {
      const record = Option.getOrNull(yield* links.findByChatId(pid, chatId));
      return record === null || !isLinked(record) || record.gameId === gameId ? null : record.gameId;
    });

    /** Returns the newest other chat user of the game account, or null. */
    const holderOf = Effect.fnUntraced(function* (pid: Pid, chatId: ChatId, gameId: GameId) {
      const found = (yield* links.findByGameIds(pid, [gameId], 2)).get(gameId) ?? [];
      return found.find((id) => id !== chatId) ?? null;
    });

    /** @param oneChatUser whether the scope allows one chat user for each game account */
    const all = Effect.fnUntraced(function* (
      pid: Pid,
      chatId: ChatId | null,
      gameId: GameId | null,
      oneChatUser: boolean,
    ) {
      const isProven = chatId !== null && gameId !== null;
      const holderId = isProven && oneChatUser ? yield* holderOf(pid, chatId, gameId) : null;
      const replacedId = chatId === null || gameId === null ? null : yield* replacedBy(pid, chatId, gameId);
      return yield* Effect.all(
        {
          chat: orNull(chatId, chat),
          game: orNull(gameId, game),
          replaces: orNull(replacedId, game),
          takenFrom: orNull(holderId, chat),
        },
        { concurrency: "unbounded" },
      );
    });

    /** Returns the words for a game account: the same as long as a flow lasts, and others in each flow. */
    const words = ({ wordSeed }: VerificationFlow, gameId: GameId) =>
      Effect.map(secrets.flowWords(wordSeed, gameId), wordsOf);

    return { chat, game, known, holderOf, both, all, words };
  }),
}) {
  static readonly layer = Layer.effect(FlowAccounts, FlowAccounts.make);
}

export const orNull = <A, B, E>(value: A | null, use: (value: A) => Effect.Effect<B, E>) =>
  value === null ? Effect.succeed(null) : use(value);

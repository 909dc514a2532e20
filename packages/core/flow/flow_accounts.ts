import { Context, Effect, Layer, Option } from "effect";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { LinkStore } from "../links/mod.ts";
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

    // Pages show names and pictures, but neither the membership in a guild nor badges and groups.
    const chat = (id: ChatId) => Effect.map(profiles.chat(id, null), (profile) => ({ id, profile }));
    const game = (id: GameId) => Effect.map(profiles.game(id, ["avatar"]), (profile) => ({ id, profile }));

    const known = (found: ReadonlyArray<KnownAccount>) =>
      forEachLimited(found, 3, (each) => Effect.map(game(each.id), (account) => ({ ...each, ...account })));

    const both = (chatId: ChatId, gameId: GameId) =>
      Effect.all({ chat: chat(chatId), game: game(gameId) }, { concurrency: "unbounded" });

    const linkedTo = (pid: Pid, chatId: ChatId) =>
      Effect.map(links.findByChatId(pid, chatId), (found) => Option.getOrNull(found)?.gameId ?? null);

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
      const linkedId = chatId === null || gameId === null ? null : yield* linkedTo(pid, chatId);
      const isNew = chatId !== null && gameId !== null && linkedId !== gameId;
      const holderId = isNew && oneChatUser ? yield* holderOf(pid, chatId, gameId) : null;
      return yield* Effect.all(
        {
          chat: orNull(chatId, chat),
          game: orNull(gameId, game),
          replaces: orNull(isNew ? linkedId : null, game),
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

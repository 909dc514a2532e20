import { Clock, Effect, Option } from "effect";
import type { DataScope } from "../data_scope.ts";
import type { PlatformUnavailable, StoreEffect, StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId } from "../ids.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import type { ConfiguredScope } from "../scope_settings.ts";
import { Secrets } from "../secrets/secrets.ts";
import { dayMs, type Millis, parseTimestamp } from "../timestamp.ts";
import { type BlockedUser, BlockStore } from "./block_store.ts";

/**
 * Why a user may not link. `blocked`: the community has blocked the user. `from` is when the account is old enough. An
 * account whose age is unknown is refused, because otherwise a platform that does not tell ages would silently switch
 * the rule off.
 */
export type NotAdmitted =
  | { readonly reason: "blocked" }
  | { readonly reason: "too_young"; readonly from: Millis }
  | { readonly reason: "age_unknown" };

type Admission = StoreEffect<NotAdmitted | null, PlatformUnavailable>;

/** Makes the checks of whether a user may link. Each returns null for a user who may. */
export const makeAdmission = Effect.gen(function* () {
  const chats = yield* ChatPlatform;
  const games = yield* GamePlatform;
  const blocks = yield* BlockStore;
  const secrets = yield* Secrets;

  const ageOf = Effect.fnUntraced(function* (
    days: number | null,
    profile: Effect.Effect<Option.Option<{ readonly created: string | null }>, PlatformUnavailable>,
  ): Effect.fn.Return<NotAdmitted | null, PlatformUnavailable> {
    if (days === null || days === 0) return null;
    const begun = Option.flatMap(yield* profile, ({ created }) => parseTimestamp(created ?? ""));
    if (Option.isNone(begun)) return { reason: "age_unknown" };
    const from = begun.value + days * dayMs;
    return (yield* Clock.currentTimeMillis) < from ? { reason: "too_young", from } : null;
  });

  const chatCreated = (chatId: ChatId) =>
    chats.createdAt === undefined
      ? chats.findUser(chatId)
      : Effect.succeed(Option.some({ created: chats.createdAt(chatId) }));

  const check = Effect.fnUntraced(function* (
    { pid }: Pick<DataScope, "pid">,
    user: BlockedUser,
    age: Effect.Effect<NotAdmitted | null, PlatformUnavailable>,
  ): Effect.fn.Return<NotAdmitted | null, PlatformUnavailable | StoreUnavailable> {
    const hash = yield* secrets.blockHash(pid, user);
    if ((yield* blocks.findHashes(pid, [hash])).has(hash)) return { reason: "blocked" };
    return yield* age;
  });

  return {
    chat: ({ scope, settings: { minChatAgeDays } }: ConfiguredScope, chatId: ChatId): Admission =>
      check(scope, { chatId, gameId: null }, ageOf(minChatAgeDays, chatCreated(chatId))),

    game: ({ scope, settings: { minGameAgeDays } }: ConfiguredScope, gameId: GameId): Admission =>
      check(scope, { chatId: null, gameId }, ageOf(minGameAgeDays, games.findProfile(gameId, []))),
  };
});

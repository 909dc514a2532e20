import { Clock, Effect, Option } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { ChatId, GameId } from "../ids.ts";
import type { ScopeSettings } from "../keys/key_store.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import { dayMs, type Millis, parseTimestamp } from "../timestamp.ts";

/**
 * Why an account may not link. `from` is when it is old enough. An account whose age is unknown is refused, because
 * otherwise a platform that does not tell ages would silently switch the rule off.
 */
export type NotAdmitted =
  | { readonly reason: "too_young"; readonly from: Millis }
  | { readonly reason: "age_unknown" };

type Admission = Effect.Effect<NotAdmitted | null, PlatformUnavailable>;

/** Makes the checks of whether an account may link. Each returns null for an account that may. */
export const makeAdmission = Effect.gen(function* () {
  const chats = yield* ChatPlatform;
  const games = yield* GamePlatform;

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

  return {
    chat: ({ minChatAgeDays }: ScopeSettings, chatId: ChatId): Admission =>
      ageOf(minChatAgeDays, chats.findUser(chatId)),

    game: ({ minGameAgeDays }: ScopeSettings, gameId: GameId): Admission =>
      ageOf(minGameAgeDays, games.findProfile(gameId, [])),
  };
});

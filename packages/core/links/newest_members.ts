import { Effect, Result } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { ChatId, GameId, GuildId, Pid } from "../ids.ts";
import type { GuildGuard } from "../platforms/guild_guard.ts";
import type { LinkStore } from "./link_store.ts";

/** The most members that a lookup of a game user in a guild returns; also how many chat users one round checks. */
const maxMembers = 100;

export type Members = Result.Result<ReadonlyArray<ChatId>, PlatformUnavailable>;

/**
 * Finds for each game user the newest 100 of its chat users who are members of the guild, or the failed membership
 * check. It checks 100 chat users of each at a time, and reads no more at first, because most game users have no more.
 * Game users without links are left out. @internal
 */
export const newestMembers = (
  guard: Pick<GuildGuard["Service"], "knownMembers" | "memberships">,
  { findByGameIds }: Pick<LinkStore["Service"], "findByGameIds">,
) => {
  const membershipsOf = Effect.fnUntraced(function* (guildId: GuildId, chatIds: ReadonlyArray<ChatId>) {
    const known = yield* guard.knownMembers(guildId, chatIds);
    const asked = yield* guard.memberships(
      guildId,
      chatIds.filter((chatId) => !known.has(chatId)),
    );
    return (chatId: ChatId) => asked.get(chatId) ?? Result.succeed(known.get(chatId) === true);
  });

  /**
   * @param linked the chat users to check, newest link first
   * @param earlier the members with newer links
   */
  const membersAmong = Effect.fnUntraced(function* (
    guildId: GuildId,
    linked: ReadonlyMap<GameId, ReadonlyArray<ChatId>>,
    earlier: ReadonlyMap<GameId, Members> = new Map(),
  ) {
    const found = new Map(earlier);
    for (let start = 0; ; start += maxMembers) {
      const round = Array.from(linked, ([gameId, chatIds]) => {
        const members = found.get(gameId) ?? Result.succeed([]);
        return { gameId, members, asked: chatIds.slice(start, start + maxMembers) };
      }).filter(
        ({ members, asked }) =>
          asked.length > 0 && Result.isSuccess(members) && members.success.length < maxMembers,
      );
      if (round.length === 0) return found;
      const membershipOf = yield* membershipsOf(
        guildId,
        round.flatMap(({ asked }) => asked),
      );
      for (const { gameId, members, asked } of round) {
        const next = Result.all([members, Result.all(asked.map(membershipOf))]);
        found.set(
          gameId,
          Result.map(next, ([before, areMembers]) =>
            [...before, ...asked.filter((_, index) => areMembers[index])].slice(0, maxMembers),
          ),
        );
      }
    }
  });

  return Effect.fnUntraced(function* (pid: Pid, guildId: GuildId, gameIds: ReadonlyArray<GameId>) {
    const first = yield* findByGameIds(pid, gameIds, maxMembers);
    const found = yield* membersAmong(guildId, first);
    const isShort = (members: Members | undefined) =>
      members !== undefined && Result.isSuccess(members) && members.success.length < maxMembers;
    const longer = [...first].filter(
      // A store may have read more, and then all.
      ([gameId, chatIds]) => chatIds.length === maxMembers && isShort(found.get(gameId)),
    );
    if (longer.length === 0) return found;
    const whole = yield* findByGameIds(
      pid,
      longer.map(([gameId]) => gameId),
    );
    const rest = Array.from(whole, ([gameId, chatIds]) => {
      const checked = new Set(first.get(gameId));
      return [gameId, chatIds.filter((chatId) => !checked.has(chatId))] as const;
    });
    return yield* membersAmong(guildId, new Map(rest), found);
  });
};

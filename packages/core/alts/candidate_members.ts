/**
 * Which candidates are members of the guild, as far as the platform says so in time.
 */
import { Clock, Effect, Option, Result } from "effect";
import { Cache } from "../cache.ts";
import type { PlatformUnavailable } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import { GuildGuard, platformConcurrency } from "../platforms/guild_guard.ts";
import { answersInTime } from "./answers_in_time.ts";

/** How long an answer waits for the platform, and how many questions are open at once. */
const listDeadline = { within: "1 second", atOnce: 1 } as const;
const memberDeadline = { within: "2 seconds", atOnce: 32 } as const;

/** How long the answers of an attempt that ran out of time are kept for the next one, in milliseconds. */
const keptFor = 30_000;

export interface CandidateMembers {
  readonly members: ReadonlySet<ChatId>;
  /** The number of chat users whose membership is unknown. */
  readonly unknown: number;
  /** Why one of them is unknown, unless the time was over. */
  readonly failure: PlatformUnavailable | null;
}

/**
 * Makes the search for members. When the time is over before the platform has answered for all, the
 * answers so far are kept for a while: attempts that are repeated come to an end, however slow the
 * platform is.
 */
export const makeCandidateMembers = Effect.gen(function* () {
  const guard = yield* GuildGuard;
  const cache = yield* Cache;

  const readKept = Effect.fnUntraced(function* (guildId: GuildId, chatIds: ReadonlyArray<ChatId>) {
    const now = yield* Clock.currentTimeMillis;
    const kept = yield* Effect.forEach(
      chatIds,
      (chatId) => Effect.orElseSucceed(cache.get(entryOf(guildId, chatId), now), Option.none),
      { concurrency: "unbounded" },
    );
    return new Map(
      kept.flatMap((value, index) =>
        Option.isSome(value) ? [[chatIds[index] as ChatId, value.value === "1"] as const] : [],
      ),
    );
  });

  const keep = Effect.fnUntraced(function* (guildId: GuildId, answers: ReadonlyMap<ChatId, boolean>) {
    const now = yield* Clock.currentTimeMillis;
    yield* Effect.forEach(
      answers,
      ([chatId, isMember]) =>
        Effect.ignore(cache.set(entryOf(guildId, chatId), isMember ? "1" : "0", now + keptFor, now)),
      { concurrency: "unbounded", discard: true },
    );
  });

  return Effect.fnUntraced(function* (
    guildId: GuildId,
    chatIds: ReadonlyArray<ChatId>,
  ): Effect.fn.Return<CandidateMembers> {
    const listed = yield* answersInTime([guildId], (id) => guard.knownMembers(id, chatIds), listDeadline);
    // A few are asked about in one go.
    const kept = chatIds.length > platformConcurrency ? yield* readKept(guildId, chatIds) : none;
    const known = new Map([...kept, ...(listed.get(guildId) ?? none)]);
    const asked = yield* answersInTime(
      chatIds.filter((chatId) => !known.has(chatId)),
      (chatId) => Effect.result(guard.isMember(guildId, chatId)),
      memberDeadline,
    );
    const learnt = new Map<ChatId, boolean>();
    let failure: PlatformUnavailable | null = null;
    for (const [chatId, answer] of asked) {
      if (Result.isSuccess(answer)) learnt.set(chatId, answer.success);
      else failure ??= answer.failure;
    }
    const unknown = chatIds.length - known.size - learnt.size;
    if (unknown > 0) yield* keep(guildId, learnt);
    const members = [...known, ...learnt].flatMap(([chatId, isMember]) => (isMember ? [chatId] : []));
    return { members: new Set(members), unknown, failure };
  });
});

const entryOf = (guildId: GuildId, chatId: ChatId): string => `alts.member:${guildId}:${chatId}`;

const none: ReadonlyMap<ChatId, boolean> = new Map();

/**
 * Finds the candidates that decide a report: the 25 most recently seen, which the report lists, and the one with the
 * greatest weight, which sets the score. If the query has a guild, only members of the guild count. The chat platform
 * is asked whether a candidate is a member only if the answer can change the result.
 */
import { Effect, Result } from "effect";
import { PlatformUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { GuildGuard, type RequestedGuild } from "../platforms/guild_guard.ts";
import { freshestFirst, maxListedAlts, type WeighedAlt } from "./alt_candidates.ts";
import { answersInTime } from "./answers_in_time.ts";

/** How long a round of membership requests to the chat platform may take, and how many requests run at once. */
const roundDeadline = { within: "2 seconds", atOnce: 32 } as const;
const wholeDeadline = "10 seconds";

/** How many memberships are looked up at once in the search for the member with the greatest weight. */
const heaviestAtOnce = 4;

/** What to do with candidates whose membership is unknown because the platform does not answer. */
export type UnknownMembers = "refuse" | "leave out";

/**
 * Makes a function that finds the candidates that decide a report. The function asks the platform about memberships in
 * rounds. It stops when the result is certain, when a round brings no answer, or after `wholeDeadline`. `unknown` is the
 * number of candidates who were left out because the platform did not say in time whether they are members.
 */
export const makeDecidingAlts = Effect.gen(function* () {
  const guard = yield* GuildGuard;

  return Effect.fnUntraced(function* (
    alts: ReadonlyArray<WeighedAlt>,
    guildId: RequestedGuild,
    unknownMembers: UnknownMembers,
  ) {
    const byFreshness = alts.toSorted(freshestFirst);
    const byWeight = byFreshness.toSorted((one, other) => other.weight - one.weight);
    if (guildId === null) {
      return { listed: byFreshness.slice(0, maxListedAlts), heaviest: byWeight[0] ?? null, unknown: 0 };
    }

    const chatIds = alts.map(({ chatId }) => chatId);
    /** Maps chat users to whether they are members of the guild, or to null if the platform failed to answer. */
    const answers = new Map<ChatId, boolean | null>(yield* guard.knownMembers(guildId, chatIds));
    const isMember = ({ chatId }: WeighedAlt) => answers.get(chatId) === true;
    const isOpen = ({ chatId }: WeighedAlt) => !answers.has(chatId);

    /**
     * Returns the candidates to ask about next: those with unknown membership up to the `wanted`-th known member of the
     * list, until known members and returned candidates together reach `atOnce`.
     */
    const openBefore = (candidates: ReadonlyArray<WeighedAlt>, wanted: number, atOnce: number) => {
      const open: Array<WeighedAlt> = [];
      let found = 0;
      for (const alt of candidates) {
        if (found === wanted || found + open.length >= atOnce) break;
        if (isMember(alt)) found += 1;
        else if (isOpen(alt)) open.push(alt);
      }
      return open;
    };

    const search = Effect.gen(function* () {
      for (;;) {
        const pending = [
          ...openBefore(byFreshness, maxListedAlts, maxListedAlts),
          ...openBefore(byWeight, 1, heaviestAtOnce),
        ];
        if (pending.length === 0) return true;
        const round = yield* answersInTime(
          pending.map(({ chatId }) => chatId),
          (chatId) => Effect.result(guard.isMember(guildId, chatId)),
          roundDeadline,
        );
        for (const [chatId, answer] of round) {
          if (Result.isFailure(answer) && unknownMembers === "refuse") return yield* answer.failure;
          answers.set(chatId, Result.getOrNull(answer));
        }
        if (![...round.values()].some(Result.isSuccess)) return false;
      }
    });
    const isComplete = yield* Effect.timeoutOrElse(search, {
      duration: wholeDeadline,
      orElse: () => Effect.succeed(false),
    });
    if (!isComplete && unknownMembers === "refuse") {
      return yield* new PlatformUnavailable({ operation: "AltDetection.decide" });
    }
    const members = byFreshness.filter(isMember);
    const failed = [...answers.values()].filter((answer) => answer === null).length;
    return {
      listed: members.slice(0, maxListedAlts),
      heaviest: byWeight.find(isMember) ?? null,
      unknown: isComplete ? failed : failed + alts.filter(isOpen).length,
    };
  });
});

/**
 * Which candidates decide an answer: the 25 freshest are listed, and the heaviest is the score. With a guild both are
 * sought among its members, and the platform is asked about those alone on whom the answer depends.
 */
import { Effect, Result } from "effect";
import { PlatformUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { GuildGuard, type RequestedGuild } from "../platforms/guild_guard.ts";
import { freshestFirst, maxListedAlts, type WeighedAlt } from "./alt_matches.ts";
import { answersInTime } from "./answers_in_time.ts";

/** How long an answer waits for one round of questions, and for all of them. */
const roundDeadline = { within: "2 seconds", atOnce: 32 } as const;
const wholeDeadline = "10 seconds";

/** How many of the heaviest candidates are asked about at a time, until one is a member. */
const heaviestAtOnce = 4;

export interface DecidingAlts {
  /** The 25 freshest, the freshest first. */
  readonly listed: ReadonlyArray<WeighedAlt>;
  /** The heaviest of all, or null. */
  readonly heaviest: WeighedAlt | null;
  /** How many candidates are left out, since the platform did not say in time whether they are members. */
  readonly unknown: number;
}

/** What becomes of candidates when the platform does not say whether they are members of the guild. */
export type UnknownMembers = "refuse" | "leave out";

/**
 * Makes the search. As long as every round of questions brings an answer, there is another one: the search ends without
 * a result only where the platform does not answer.
 */
export const makeDecidingAlts = Effect.gen(function* () {
  const guard = yield* GuildGuard;

  return Effect.fnUntraced(function* (
    alts: ReadonlyArray<WeighedAlt>,
    guildId: RequestedGuild,
    unknownMembers: UnknownMembers,
  ): Effect.fn.Return<DecidingAlts, PlatformUnavailable> {
    const byFreshness = alts.toSorted(freshestFirst);
    const byWeight = byFreshness.toSorted((one, other) => other.weight - one.weight);
    if (guildId === null) {
      return { listed: byFreshness.slice(0, maxListedAlts), heaviest: byWeight[0] ?? null, unknown: 0 };
    }

    const chatIds = alts.map(({ chatId }) => chatId);
    /** Null where the platform failed to answer. */
    const answers = new Map<ChatId, boolean | null>(yield* guard.knownMembers(guildId, chatIds));
    const isMember = ({ chatId }: WeighedAlt) => answers.get(chatId) === true;
    const isOpen = ({ chatId }: WeighedAlt) => !answers.has(chatId);

    const search = Effect.gen(function* () {
      for (;;) {
        const pending = [
          ...openBefore(byFreshness, maxListedAlts, maxListedAlts, isMember, isOpen),
          ...openBefore(byWeight, 1, heaviestAtOnce, isMember, isOpen),
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

/**
 * The candidates to ask about next, so that the first members in an order become known: as many as could be among them.
 *
 * @param wanted how many members are sought
 * @param atOnce how many are asked about at a time, less those that are found
 */
const openBefore = (
  alts: ReadonlyArray<WeighedAlt>,
  wanted: number,
  atOnce: number,
  isMember: (alt: WeighedAlt) => boolean,
  isOpen: (alt: WeighedAlt) => boolean,
): ReadonlyArray<WeighedAlt> => {
  const open: Array<WeighedAlt> = [];
  let found = 0;
  for (const alt of alts) {
    if (found === wanted || found + open.length >= atOnce) break;
    if (isMember(alt)) found += 1;
    else if (isOpen(alt)) open.push(alt);
  }
  return open;
};

/** The first half of a sweep: compares the members with the plan, and changes nobody. */
import { Clock, Effect, Equal } from "effect";
import { retryDelay } from "../../couriers/couriers.ts";
import type { ChatId } from "../../ids.ts";
import { Turns } from "../../turns/mod.ts";
import type { AnswerSources } from "../answer_sources.ts";
import { type ComparedMember, makeGuildComparisons } from "../guild_comparison.ts";
import { MemberSync } from "../member_sync.ts";
import { walkMembers } from "../member_walk.ts";
import { PreviewTally } from "../preview_tally.ts";
import { goneMember } from "./change_member.ts";
import type { SweepRun } from "./sweep_run.ts";

/** A source that answered during a sweep is waited for no longer than this time, in milliseconds. */
const longestWait = 3_600_000;

/** How many members with an unanswered question a sweep remembers. More than it takes to close a source. */
const mostRemembered = 50;

/** How many slices of members a node compares at once, and how many of one account while others wait. */
const [mostAtOnce, share] = [8, 2];

export interface SweepFindings {
  readonly tally: PreviewTally;
  readonly sources: AnswerSources;
  /** The members who differ from the plan, or may. */
  readonly differing: Set<ChatId>;
  /** The first members with an unanswered question. */
  readonly unanswered: Set<ChatId>;
  /** The roles whose rules name an item that does not exist. */
  readonly withoutItem: Set<string>;
}

export const makeFindMembers = Effect.gen(function* () {
  const sync = yield* MemberSync;
  const comparisons = yield* makeGuildComparisons;
  const turns = new Turns({ resource: "sweeps", places: mostAtOnce, share });

  /** Stores what was found of members with the right roles, unless an event has changed them since. */
  const storeUnchanged = Effect.fnUntraced(function* (
    { plan, settle }: SweepRun,
    compared: ReadonlyArray<ComparedMember>,
  ) {
    const unchanged = compared.filter(
      (each) =>
        !isReadAgain(each) &&
        (each.changes.isUnanswered || each.changes.setNickname.after !== each.stored.nickname),
    );
    if (unchanged.length === 0) return;
    const chatIds = unchanged.map(({ member }) => member.chatId);
    const storedFor = yield* comparisons.storedOf(plan, chatIds);
    const retryAt = (yield* Clock.currentTimeMillis) + retryDelay(0);
    const members = unchanged
      .filter(({ member, stored }) => Equal.equals(storedFor(member.chatId), stored))
      .map(({ member, changes }) => ({
        ...goneMember(member.chatId),
        retryAt: changes.isUnanswered ? retryAt : null,
        nickname: changes.setNickname.after,
      }));
    yield* settle({ members });
  });

  /** @param memberCount how many members the guild has */
  return Effect.fnUntraced(function* (run: SweepRun, memberCount: number) {
    const { plan, start, courier, isOver, steps, save } = run;
    const roles = yield* steps.step(sync.roles);
    const options = { members: memberCount - start.done, longestWait, isOver };
    const { compare, sources } = yield* steps.step(comparisons.begin(plan, options));
    const findings: SweepFindings = {
      tally: new PreviewTally(plan),
      sources,
      differing: new Set(),
      unanswered: new Set(),
      withoutItem: new Set(),
    };
    let done = 0;
    yield* walkMembers(roles, {
      guildId: plan.guildId,
      after: start.after,
      steps,
      visit: Effect.fnUntraced(function* (slice) {
        const compared = yield* turns.step(plan.scope.account, compare(slice));
        yield* courier.turn.withPermit(storeUnchanged(run, compared));
        const now = done + slice.length;
        // Another node has begun to change members, so the stored progress of the sweep does not change.
        if (start.after === null) yield* save({ after: null, done: now, total: Math.max(now, memberCount) });
        // Last, because after a failure these members are compared again.
        done = now;
        for (const each of compared) note(findings, each);
      }),
    });
    return findings;
  });
});

const note = (
  { tally, differing, unanswered, withoutItem }: SweepFindings,
  compared: ComparedMember,
): void => {
  const { changes } = compared;
  tally.add(compared);
  if (isReadAgain(compared)) differing.add(changes.chatId);
  if (changes.isUnanswered && unanswered.size < mostRemembered) unanswered.add(changes.chatId);
  for (const roleId of changes.withoutItem) withoutItem.add(roleId);
};

/**
 * Whether the second half reads the member again, since a sync would change the roles or the nickname. Also if the
 * member's page shows another nickname than the plan set: the page may have been read before the nickname was set, and
 * who loses the link would keep a nickname that is forgotten.
 */
const isReadAgain = ({ stored, changes }: ComparedMember): boolean =>
  changes.add.length + changes.remove.length > 0 ||
  changes.nickname !== null ||
  (stored.nickname !== null && changes.setNickname.after === null);

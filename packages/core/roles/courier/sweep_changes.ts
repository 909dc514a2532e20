/** The second half of a sweep: changes the members that differ, at most ten changes a second. */
import { Clock, Effect } from "effect";
import { retryDelay } from "../../couriers/couriers.ts";
import type { ChatId } from "../../ids.ts";
import { mostUnanswered } from "../answer_sources.ts";
import { makeGuildCheck } from "../guild_check.ts";
import { makeGuildComparisons } from "../guild_comparison.ts";
import { MemberSync } from "../member_sync.ts";
import { walkMembers } from "../member_walk.ts";
import { goneMember, makeChangeMember, makeUnanswered } from "./change_member.ts";
import type { SweepFindings } from "./sweep_findings.ts";
import type { SweepRun } from "./sweep_run.ts";

/** The time between two changes that a sweep makes in a guild, in milliseconds. */
export const changeInterval = 100;

export const makeChangeMembers = Effect.gen(function* () {
  const sync = yield* MemberSync;
  const { storedOf } = yield* makeGuildComparisons;
  const changeMember = yield* makeChangeMember;
  const unanswered = yield* makeUnanswered;
  const { pauseWithoutBot } = yield* makeGuildCheck;

  return Effect.fnUntraced(function* (
    { plan, start, courier, steps, settle, save, tally }: SweepRun,
    { differing, sources }: Pick<SweepFindings, "differing" | "sources">,
  ) {
    const roles = yield* steps.step(sync.roles);
    const pace = makePace();
    let failures = 0;

    /** Reads the member and the link again, because they may have changed since they were compared. */
    const changeNow = Effect.fnUntraced(function* (chatId: ChatId) {
      const stored = (yield* storedOf(plan, [chatId]))(chatId);
      const changing = changeMember(plan, chatId, stored, { pace, sources, because: "sweep" });
      const changed = yield* Effect.catchTag(changing, "PlatformUnavailable", (error) => {
        const isForAll = error.retryAfterMs !== undefined || ++failures > mostUnanswered;
        return isForAll ? Effect.fail(error) : Effect.succeed("unavailable" as const);
      });
      if (changed === "unavailable") {
        const retryAt = (yield* Clock.currentTimeMillis) + retryDelay(0);
        return yield* settle({ members: [yield* unanswered(plan, chatId, retryAt)] });
      }
      if (changed === null && (yield* pauseWithoutBot(plan))) return;
      failures = 0;
      if (changed !== null) tally(changed.changes);
      const settled = changed?.settled ?? goneMember(chatId);
      // Nothing is stored for a member without problems whose nickname stays the same. The end of the sweep deletes
      // the member's earlier problems.
      const isStored = settled.nickname === stored.nickname && changed?.wasStarted !== true;
      if (isStored && settled.problems.length === 0 && settled.retryAt === null) return;
      yield* settle({ members: [settled] });
    });

    let done = start.after === null ? 0 : start.done;
    const total = done + differing.size;
    yield* walkMembers(roles, {
      guildId: plan.guildId,
      after: start.after,
      steps,
      isVisited: ({ chatId }) => differing.has(chatId),
      visit: Effect.fnUntraced(function* (slice) {
        for (const { chatId } of slice) {
          yield* steps.goOn;
          yield* courier.turn.withPermit(changeNow(chatId));
          differing.delete(chatId);
          yield* save({ after: chatId, done: ++done, total });
        }
      }),
    });
  });
});

/** Returns an effect that waits until the next change may be made. */
const makePace = () => {
  let nextAt = 0;
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    yield* Effect.sleep(Math.max(0, nextAt - now));
    nextAt = Math.max(now, nextAt) + changeInterval;
  });
};

/**
 * Puts nicknames from before back, where the team of a community asked for it. One node of all works on it, the oldest;
 * after a restart, or on another node, the work goes on with the nicknames that are still kept.
 */
import { Clock, Effect, FiberMap, Option } from "effect";
import type { ChatId } from "../../ids.ts";
import { ChargedAccount, IsBackground, PlatformRefusals } from "../../platforms/platform_refusals.ts";
import { MemberSync } from "../member_sync.ts";
import { makeOldestNode } from "../oldest_node.ts";
import { patientSteps } from "../patient_steps.ts";
import { makeReplacedNicknames, type NicknameBefore } from "../replaced_nicknames.ts";
import { type PlanPlace, RolePlanStore } from "../role_plan_store.ts";

const pageSize = 200;

/** The time between two changes, in milliseconds: a sweep makes no more either. */
const changeInterval = 100;

/** How often the node looks for communities whose nicknames are to be put back, in milliseconds. */
const interval = 2_000;

export const startNicknamesBack = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const { chargeTo } = yield* PlatformRefusals;
  const putBackAll = yield* makePutBackAll;
  const running = yield* FiberMap.make<string>();

  let lookedAt = 0;
  const begin = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    if (now < lookedAt + interval) return;
    lookedAt = now;
    for (const { scope, guildId } of yield* store.puttingBack()) {
      const work = putBackAll({ pid: scope.pid, guildId }).pipe(
        chargeTo(scope.account),
        Effect.provideService(IsBackground, true),
      );
      yield* FiberMap.run(running, `${scope.pid} ${guildId}`, work, { onlyIfMissing: true });
    }
  });
  yield* makeOldestNode("nicknames:", {
    problem: "Cannot choose the node that puts nicknames back",
    work: begin,
    stop: FiberMap.clear(running),
  });
});

const makePutBackAll = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const sync = yield* MemberSync;
  const { page, setsNicknames } = yield* makeReplacedNicknames;

  return Effect.fnUntraced(function* (place: PlanPlace) {
    const { guildId } = place;
    const problem = "Cannot put nicknames back";
    // Rules that were turned on meanwhile would set the nicknames again.
    const steps = patientSteps(problem, () => Effect.orElseSucceed(setsNicknames(place), () => false));

    /** Puts a nickname back, unless the member has another one than the plan gave. */
    const putBack = Effect.fnUntraced(function* ({ chatId, nickname, given }: NicknameBefore) {
      const { findMember, setNickname } = yield* sync.roles;
      // Not charged: who has left the guild is answered with 404.
      const found = Effect.provideService(findMember(guildId, chatId), ChargedAccount, null);
      const member = Option.getOrNull(yield* found);
      if (member !== null && member.nickname === given && given !== nickname) {
        yield* Effect.sleep(changeInterval);
        // The platform's own rules may refuse it, as for members above the bot.
        yield* Effect.catchTag(setNickname(guildId, chatId, nickname), "RoleRefused", () => Effect.void);
      }
      yield* store.dropNickname(place, chatId);
    });

    const putAllBack = Effect.gen(function* () {
      let after: ChatId | null = null;
      while (true) {
        const members: ReadonlyArray<NicknameBefore> = yield* steps.step(page(place, after, pageSize));
        for (const member of members) yield* steps.step(putBack(member));
        after = members.at(-1)?.chatId ?? null;
        if (after === null) return;
      }
    });
    yield* Effect.ignore(putAllBack);
    yield* Effect.ignore(
      patientSteps(problem, () => Effect.succeed(false)).step(store.endPuttingBack(place)),
    );
  });
});

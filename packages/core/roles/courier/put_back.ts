/**
 * Puts back what the rules did, where the team of a community asked for it: nicknames from before, roles that were taken,
 * and roles that no rule names any more. One node of all works on it, the oldest; after a restart, or on another node, the
 * work goes on where it stopped.
 */
import { Effect, FiberMap, Option } from "effect";
import { placeOf } from "../../communities/community.ts";
import type { DataScope } from "../../data_scope.ts";
import type { ChatId } from "../../ids.ts";
import { KeyStore } from "../../keys/key_store.ts";
import { atMostEvery } from "../../monotonic_millis.ts";
import { PlatformRefusals, Urgency } from "../../platforms/platform_refusals.ts";
import { MemberSync } from "../member_sync.ts";
import { makeOldestNode } from "../oldest_node.ts";
import { patientSteps } from "../patient_steps.ts";
import { makeReplacedNicknames, type NicknameBefore } from "../replaced_nicknames.ts";
import { RoleHistoryStore } from "../role_history_store.ts";
import { type PlanPlace, RolePlanStore } from "../role_plan_store.ts";
import { makeReverse } from "./reversals.ts";
import { changeInterval } from "./sweep_changes.ts";

const pageSize = 200;

/** How often the node looks for communities where something is to be put back, in milliseconds. */
const interval = 2_000;

export const startPutBack = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const history = yield* RoleHistoryStore;
  const keys = yield* KeyStore;
  const { chargeTo } = yield* PlatformRefusals;
  const putNicknamesBack = yield* makePutNicknamesBack;
  const reverse = yield* makeReverse;
  const seldom = atMostEvery(interval);
  const running = yield* FiberMap.make<string>();

  /** Runs a work of a community, at most one of a name at a time. */
  const run = (scope: DataScope, name: string, work: Effect.Effect<void>) =>
    FiberMap.run(running, name, chargeTo(scope.account)(Effect.provideService(work, Urgency, "background")), {
      onlyIfMissing: true,
    });

  const begin = Effect.gen(function* () {
    for (const plan of yield* store.puttingBack()) {
      const place = placeOf(plan);
      yield* run(plan.scope, `nicknames ${place.pid} ${place.guildId}`, putNicknamesBack(place));
    }
    const roles = yield* history.reversals(null);
    for (const { pid, guildId } of roles) {
      const name = `roles ${pid} ${guildId}`;
      const scope = Option.getOrNull(yield* keys.findScopeByPid(pid))?.scope;
      const account = scope && Option.getOrNull(yield* keys.findAccount(scope.account));
      if (scope === undefined || account?.status !== "active") continue;
      yield* run(scope, name, Effect.ignore(reverse({ pid, guildId })));
    }
  });
  yield* makeOldestNode("put_back:", {
    problem: "Cannot choose the node that puts roles and nicknames back",
    work: seldom(begin),
    stop: FiberMap.clear(running),
  });
});

const makePutNicknamesBack = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const sync = yield* MemberSync;
  const { page, setsNicknames } = yield* makeReplacedNicknames;

  return Effect.fnUntraced(function* (place: PlanPlace) {
    const { guildId } = place;
    const problem = "Cannot put nicknames back";
    // Rules that were turned on meanwhile would set the nicknames again.
    const steps = patientSteps(problem, () => Effect.orElseSucceed(setsNicknames(place), () => false));

    /**
     * Puts a nickname back, unless the member has another one than the plan gave. It stays kept if the user is missing,
     * as everybody is without the bot, or if the platform's own rules refuse it, as for members above the bot.
     */
    const putBack = Effect.fnUntraced(function* ({ chatId, nickname, given }: NicknameBefore) {
      const { setNickname } = yield* sync.roles;
      const member = yield* sync.findMember(guildId, chatId);
      if (member === null) return;
      if (member.nickname === given && given !== nickname) {
        yield* Effect.sleep(changeInterval);
        const renamed = Effect.catchTag(setNickname(guildId, chatId, nickname), "RoleRefused", () =>
          Effect.succeed(false),
        );
        if ((yield* renamed) === false) return;
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

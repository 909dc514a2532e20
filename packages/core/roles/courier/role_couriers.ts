import { Clock, Context, Effect, FiberSet, Layer, Metric } from "effect";
import { awaitDrained, makeCouriers, makeNode, readGreatest } from "../../couriers/couriers.ts";
import type { PlatformEffect } from "../../errors.ts";
import type { GuildId } from "../../ids.ts";
import {
  ChatPlatform,
  type ChatRoles,
  PlatformRefusals,
  type RoleRefused,
  Urgency,
} from "../../platforms/mod.ts";
import { warnOnce } from "../../telemetry/mod.ts";
import type { Millis } from "../../timestamp.ts";
import { MemberSync } from "../member_sync.ts";
import { RolePlanStore } from "../role_plan_store.ts";
import { isMemberDue, makePlanCourier, makePlanRun, type PlanCourier } from "./plan_courier.ts";
import { startPutBack } from "./put_back.ts";
import { isSweepDue, makeSweep, rereadTime } from "./sweep.ts";

const oldest = Metric.gauge("accountlink_role_oldest_change_seconds", {
  description:
    "Age of the oldest change that waits to be applied to a member, of all role plans of this node",
});

const layerRemembering = Layer.effect(
  ChatPlatform,
  Effect.map(ChatPlatform, (platform) =>
    platform.roles === undefined ? platform : { ...platform, roles: rememberRefusals(platform.roles) },
  ),
);

/**
 * Keeps the roles and nicknames of guild members up to date with their links, according to the role plans. Does nothing
 * on a platform without roles. @internal
 */
export class RoleCouriers extends Context.Service<RoleCouriers>()("@accountlink/core/RoleCouriers", {
  make: Effect.gen(function* () {
    const { roles } = yield* ChatPlatform;
    return {
      /**
       * Prevents further changes, because the node is stopping. Changes that are already running end before the scope
       * closes.
       */
      stop: roles === undefined ? Effect.void : yield* start,
    };
  }),
}) {
  static readonly layer = Layer.effect(RoleCouriers, RoleCouriers.make).pipe(
    Layer.provide(Layer.fresh(MemberSync.layer)),
    Layer.provide(layerRemembering),
  );
}

const start = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const { chargeTo } = yield* PlatformRefusals;
  const run = yield* makePlanRun;
  const sweeps = yield* FiberSet.make();
  const sweep = yield* makeSweep;
  const node = makeNode();

  const startSweep = Effect.fnUntraced(function* (courier: PlanCourier) {
    if (!isSweepDue(courier, yield* Clock.currentTimeMillis)) return;
    courier.sweeping = { isRunning: true, nextAt: 0 };
    const ended = Effect.map(Clock.currentTimeMillis, (now) => {
      courier.sweeping = { isRunning: false, nextAt: now + rereadTime };
    });
    const running = yield* warnOnce("Cannot sweep the members of a guild", sweep(node, courier));
    yield* FiberSet.run(sweeps, Effect.ensuring(running, ended));
  });

  const couriers = yield* makeCouriers({
    topic: "role_plans",
    items: "role plans",
    problem: "Cannot apply role plans",
    node,
    hold: (hold) => store.hold(hold),
    idOf: ({ scope, guildId }) => `${scope.pid} ${guildId}`,
    make: makePlanCourier,
    run: (courier) =>
      Effect.andThen(startSweep(courier), run(node, courier)).pipe(
        chargeTo(courier.item.scope.account),
        Effect.provideService(Urgency, "change"),
      ),
    isDue: (courier, at) => isMemberDue(courier, at) || isSweepDue(courier, at),
  });
  yield* Effect.addFinalizer(() => Effect.andThen(couriers.stop, awaitDrained(node, sweeps)));
  yield* readGreatest(oldest, couriers, ({ item }, now) => now - (item.oldestSince ?? now));
  yield* startPutBack;
  return couriers.stop;
});

/** The refusals that other members would get as well. */
const concernsAll: ReadonlySet<RoleRefused["reason"]> = new Set([
  "role_above_bot",
  "role_missing",
  "no_permission",
]);

/** How long a change that the platform refused for one member is also refused for other members, in milliseconds. */
const rememberedFor = 5_000;

/**
 * Refuses changes that the platform has just refused for another member. Without this, a role above the bot would cost
 * a request for each member of a guild, and Discord blocks applications with many refused requests.
 *
 * @param refusals the refusals of the last seconds, by guild and role
 * @internal
 */
export const rememberRefusals = (
  roles: ChatRoles,
  refusals = new Map<string, { readonly refusal: RoleRefused; readonly until: Millis }>(),
): ChatRoles => {
  const unlessRefused = <A>(
    guildId: GuildId,
    what: string,
    change: PlatformEffect<A, RoleRefused>,
  ): PlatformEffect<A, RoleRefused> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const known = refusals.get(`${guildId} ${what}`);
      if (known !== undefined && now < known.until) return Effect.fail(known.refusal);
      return Effect.tapError(change, (refusal) =>
        Effect.sync(() => {
          if (refusal._tag === "PlatformUnavailable" || !concernsAll.has(refusal.reason)) return;
          for (const [other, { until }] of refusals) if (until <= now) refusals.delete(other);
          refusals.set(`${guildId} ${what}`, { refusal, until: now + rememberedFor });
        }),
      );
    });

  return {
    ...roles,
    addRole: (guildId, chatId, roleId) =>
      unlessRefused(guildId, roleId, roles.addRole(guildId, chatId, roleId)),
    removeRole: (guildId, chatId, roleId) =>
      unlessRefused(guildId, roleId, roles.removeRole(guildId, chatId, roleId)),
    setNickname: (guildId, chatId, nickname) =>
      unlessRefused(guildId, "nickname", roles.setNickname(guildId, chatId, nickname)),
  };
};

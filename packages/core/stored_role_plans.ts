/** Role plans in any storage. */
import { Array as Arr, Effect, Predicate, Struct } from "effect";
import { type Pause, pauseBy, pauseFor, placeOrder } from "./communities/community.ts";
import type { StoreEffect } from "./errors.ts";
import { guildLogs, logIdOf } from "./guild_log/mod.ts";
import { type RecordType, recordStore, removeFound, type Tx, withScopes } from "./records/mod.ts";
import { findPlan, memberOperations, queueOf, sweeping } from "./roles/plan_members.ts";
import { nicknameOperations } from "./roles/plan_nicknames.ts";
import { noteTurn } from "./roles/plan_notice_store.ts";
import {
  hasEnded,
  isOn,
  noSweep,
  type PlanRecord,
  planOf,
  roleMembers,
  rolePlans,
  roleProblems,
  settingsOf,
  sharedProblems,
  sweepOf,
} from "./roles/plan_records.ts";
import { putProblems, settlingOperations } from "./roles/plan_settling.ts";
import { confirmPreview, rolePreviews } from "./roles/preview_store.ts";
import { beginReversals, roleChangesQueue } from "./roles/role_history_store.ts";
import {
  changedSettings,
  isChangedSince,
  logProblems,
  noPlan,
  type PlanSettings,
  planEntryDetails,
  problemOrder,
  shownProblems,
} from "./roles/role_plan.ts";
import { type PlanPlace, type PutPlan, type PutRefusal, RolePlanStore } from "./roles/role_plan_store.ts";
import { closeCommunity, communityQueue, deleteLogEntries, turnLinking } from "./stored_communities.ts";
import type { Millis } from "./timestamp.ts";

/** The queues of writes that also change the community. */
const queuesOf = (place: PlanPlace) => [queueOf(place), communityQueue(place)];

const paused = (plan: PlanRecord): PlanRecord => ({
  ...plan,
  ...noSweep,
  state: "paused",
  revision: plan.revision + 1,
});

/** The plan after a change that concerns members. */
const changedPlan = (
  stored: PlanRecord | undefined,
  { pid, guildId, position, at }: PutPlan,
  settings: PlanSettings,
): PlanRecord => {
  const plan: PlanRecord = {
    revision: 0,
    sweptAt: null,
    holder: null,
    changedDays: null,
    puttingBackSince: null,
    ...noSweep,
    ...stored,
    pid,
    guildId,
    ...settings,
    bypassRoleId: settings.bypassRoleIds[0] ?? null,
    position: isOn(stored) ? stored.position : position,
  };
  return settings.state === "on" ? sweeping(plan, 0, at) : paused(plan);
};

const put = Effect.fnUntraced(function* (
  tx: Tx,
  write: PutPlan,
  pause: Pause = pauseBy(write.actor, write.at),
) {
  const { pid, guildId, settings } = write;
  const stored = yield* findPlan(tx, write);
  const others = yield* tx.list(rolePlans.on, [guildId]);
  const before = stored === undefined ? noPlan : settingsOf(stored);
  if (isChangedSince(write.edited, before, settings)) return "plan_changed" satisfies PutRefusal;
  if (settings.state === "on" && others.some((plan) => plan.pid !== pid))
    return "guild_has_plan" satisfies PutRefusal;
  yield* confirmPreview(tx, write);
  const isChanged = changedSettings(before, settings).length > 0;
  if (isChanged) {
    yield* tx.put(rolePlans, changedPlan(stored, write, settings));
    yield* tx.journal(write, "roles.updated", planEntryDetails(write, before, settings));
    yield* turnLinking(tx, write, settings.state, pause);
    if (before.state !== settings.state) yield* noteTurn(tx, write, settings.state, pause.why);
    const ofPlan = yield* tx.list(roleProblems.byUser, ["", pid, guildId]);
    yield* removeFound(roleProblems)(
      tx,
      ofPlan.filter((problem) => hasEnded(problem, write.at)),
    );
  }
  const { take } = write;
  if (take !== undefined && (isChanged || take.length > 0))
    yield* beginReversals(tx, { ...write, change: "gave", roleIds: take, since: 0, count: 0 });
  return null;
});

/**
 * Pauses the plans of an account that closes, until the step is over. Returns whether more are left. Storages call it in
 * the transaction of the account. @internal
 */
export const pausePlans = Effect.fnUntraced(function* (
  tx: Tx,
  account: string,
  at: Millis,
  isOver: () => boolean,
) {
  const on = (yield* tx.ofAccount(rolePlans, account)).filter(isOn);
  for (const place of on) {
    if (isOver()) return true;
    const plan = yield* findPlan(tx, place);
    if (!isOn(plan)) continue;
    yield* tx.put(rolePlans, paused(plan));
    yield* turnLinking(tx, plan, "paused", pauseFor("account_closed", at));
  }
  return false;
});

/** @internal */
export const storedRolePlans = recordStore(RolePlanStore, (records) => {
  const { read, write, inSteps, hold, firstNode } = records;

  const dropMembers = Effect.fnUntraced(function* (
    place: PlanPlace,
    isMeant: (tx: Tx) => StoreEffect<boolean>,
  ) {
    const prefix = [place.pid, place.guildId];
    const drop = <R extends object>(type: RecordType<R>) =>
      inSteps(
        "remove",
        queueOf(place),
        (tx, limit) =>
          Effect.flatMap(isMeant(tx), (is) =>
            is ? tx.list(type.byKey, prefix, { limit }) : Effect.succeed([]),
          ),
        removeFound(type),
      );
    yield* drop(roleMembers);
    yield* drop(roleProblems);
  });

  return {
    ...memberOperations(records),
    ...settlingOperations(records),
    ...nicknameOperations(records),

    find: (place) =>
      read("find", function* (tx) {
        const plan = yield* findPlan(tx, place);
        return Arr.head(yield* withScopes(tx, plan === undefined ? [] : [plan], planOf));
      }),

    findOn: (guildId) =>
      read("findOn", function* (tx) {
        return Arr.head(yield* withScopes(tx, yield* tx.list(rolePlans.on, [guildId]), planOf));
      }),

    list: (pid) =>
      read("list", function* (tx) {
        return yield* withScopes(tx, yield* tx.list(rolePlans.byKey, [pid]), planOf);
      }),

    status: (place) =>
      read("status", function* (tx) {
        const { pid, guildId } = place;
        const plan = yield* findPlan(tx, place);
        const ofLog = logProblems((yield* tx.get(guildLogs, logIdOf(place)))?.closedAt ?? null);
        const problems = [...(yield* sharedProblems(tx, place)), ...ofLog];
        return {
          pending: plan === undefined ? 0 : yield* tx.count(roleMembers.due, [pid, guildId]),
          sweptAt: plan?.sweptAt ?? null,
          sweep: plan === undefined ? null : sweepOf(plan),
          problems: problems.toSorted(problemOrder).slice(0, shownProblems),
        };
      }),

    put: (change) => write("put", [...queuesOf(change), roleChangesQueue(change)], (tx) => put(tx, change)),

    pause: (change) =>
      write("pause", queuesOf(change), function* (tx) {
        const stored = yield* findPlan(tx, change);
        if (!isOn(stored)) return false;
        const settings = { ...settingsOf(stored), state: "paused" } as const;
        yield* put(tx, { ...change, position: stored.position, settings }, pauseFor(change.why, change.at));
        yield* putProblems(tx, change, change.problems ?? []);
        return true;
      }),

    remove: Effect.fnUntraced(function* (removal) {
      // If the process ends amid the removal, rules that are on have forgotten what they owe to members.
      yield* write("remove", queuesOf(removal), function* (tx) {
        const stored = yield* findPlan(tx, removal);
        if (!isOn(stored)) return;
        const settings = { ...settingsOf(stored), state: "paused" } as const;
        yield* put(tx, { ...removal, position: stored.position, settings });
      });
      yield* dropMembers(removal, () => Effect.succeed(true));
      const isRemoved = yield* write("remove", queuesOf(removal), function* (tx) {
        const { pid, guildId } = removal;
        const stored = yield* findPlan(tx, removal);
        const isCommunity = yield* closeCommunity(tx, removal);
        if (stored === undefined && !isCommunity) return false;
        const details = planEntryDetails(removal, stored === undefined ? noPlan : settingsOf(stored));
        yield* tx.journal(removal, "roles.deleted", details);
        yield* noteTurn(tx, removal, "removed");
        yield* tx.remove(rolePreviews, pid, guildId);
        yield* tx.remove(rolePlans, pid, guildId);
        return true;
      });
      yield* deleteLogEntries(records, "remove", removal);
      // Removes what a node has stored meanwhile.
      yield* dropMembers(removal, (tx) => Effect.map(findPlan(tx, removal), Predicate.isUndefined));
      return isRemoved;
    }),

    startSweep: (place, at) =>
      write("startSweep", queueOf(place), function* (tx) {
        const stored = yield* findPlan(tx, place);
        if (!isOn(stored)) return false;
        yield* tx.put(rolePlans, sweeping(stored, 0, at));
        return true;
      }),

    hold: (items) =>
      hold("hold", rolePlans, items, function* (tx, held) {
        const found = yield* withScopes(tx, held, (plan, scope) => ({ plan, scope }), true);
        const places = found.map(({ plan: { pid, guildId } }) => [pid, guildId]);
        const next = yield* tx.firsts(roleMembers.due, places);
        const oldest = yield* tx.firsts(roleMembers.since, places);
        return found.map(({ plan, scope }, index) => ({
          ...planOf(plan, scope),
          ...Struct.pick(plan, ["position", "revision", "sweptAt"]),
          sweep: sweepOf(plan),
          nextDueAt: next[index]?.dueAt ?? null,
          oldestSince: oldest[index]?.since ?? null,
        }));
      }),

    firstNode: (prefix, at) => firstNode("firstNode", rolePlans, prefix, at),

    putNicknamesBack: Effect.fnUntraced(function* (change) {
      const { pid, guildId, at } = change;
      const count = yield* read("putNicknamesBack", (tx) => tx.count(roleMembers.replaced, [pid, guildId]));
      return yield* write("putNicknamesBack", queueOf(change), function* (tx) {
        const stored = yield* findPlan(tx, change);
        if (stored === undefined || stored.puttingBackSince !== null) return false;
        yield* tx.journal(change, "nicknames.put_back", { guildId, count });
        yield* tx.put(rolePlans, { ...stored, puttingBackSince: at });
        return true;
      });
    }),

    puttingBack: () =>
      read("puttingBack", function* (tx) {
        const found = yield* tx.list(rolePlans.puttingBack, []);
        return yield* withScopes(tx, found.toSorted(placeOrder), planOf, true);
      }),

    endPuttingBack: (place) =>
      write("endPuttingBack", queueOf(place), function* (tx) {
        const stored = yield* findPlan(tx, place);
        if (stored !== undefined) yield* tx.put(rolePlans, { ...stored, puttingBackSince: null });
      }),

    changedDays: (place) =>
      read("changedDays", (tx) => Effect.map(findPlan(tx, place), (plan) => plan?.changedDays ?? [])),
  };
});

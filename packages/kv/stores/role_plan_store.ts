import { type Pause, pauseBy, pauseFor, placeOrder } from "@accountlink/core/communities";
import type { StoreUnavailable } from "@accountlink/core/errors";
import { guildLogEntries, guildLogs, logIdOf } from "@accountlink/core/guild_log";
import { logged } from "@accountlink/core/journal";
import {
  changedSettings,
  confirmPreview,
  isChangedSince,
  logProblems,
  noPlan,
  noteProblems,
  noteTurn,
  type PlanProblem,
  type PutPlan,
  type PutRefusal,
  planEntryDetails,
  problemOrder,
  type RolePlan,
  RolePlanStore,
  rolePreviews,
  shownProblems,
} from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { closeCommunity, turnLinking } from "@accountlink/core/storage";
import { Effect, Option } from "effect";
import { kvTable, txOf } from "../records.ts";
import { removeInSteps } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { nextNumber } from "./counts.ts";
import { record } from "./journal.ts";
import { holdItems, liveNodes } from "./leases.ts";
import { memberOperations, sweeping } from "./plan_members.ts";
import { countNicknames, nicknameOperations } from "./plan_nicknames.ts";
import { settlingOperations } from "./plan_settling.ts";
import {
  findPlan,
  isOn,
  type KeptPlan,
  planMembers,
  planProblems,
  plans,
  settingsOf,
  sharedProblems,
  storeProblems,
} from "./role_plans.ts";
import { ofActive, refOf, scopeAt, withScope } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

const nodes = "role plans";

const planOf = Effect.fnUntraced(function* (tx: Transaction, { settings, scope, guildId }: KeptPlan) {
  return { ...settingsOf(settings), scope: yield* withScope(tx, scope), guildId } satisfies RolePlan;
});

const put = Effect.fnUntraced(function* (
  tx: Transaction,
  write: PutPlan,
  pause: Pause = pauseBy(write.actor, write.at),
): Effect.fn.Return<PutRefusal | null, StoreUnavailable> {
  const { pid, guildId, settings } = write;
  const stored = yield* findPlan(tx, write);
  const ofGuild = yield* tx.list(plans.byGuild, [guildId]);
  const isTaken = ofGuild.some((plan) => plan.pid !== pid && isOn(plan));
  const before = stored === undefined ? noPlan : settingsOf(stored.settings);
  if (isChangedSince(write.edited, before)) return "plan_changed";
  if (settings.state === "on" && isTaken) return "guild_has_plan";
  const scope = refOf(yield* scopeAt(tx, pid));
  yield* confirmPreview(txOf(tx), write);
  const changed = changedSettings(before, settings);
  if (changed.length === 0) return null;
  assertStorable([settings.nickname ?? ""]);
  yield* record(tx, pid, logged(write, "roles.updated", planEntryDetails(write, before, settings)));
  yield* turnLinking(txOf(tx), write, settings.state, pause);
  if (before.state !== settings.state) yield* noteTurn(txOf(tx), write, settings.state, pause.why);
  if (stored !== undefined) yield* storeProblems(tx, stored, "", []);
  const ref = stored?.ref ?? (yield* nextNumber(tx, "plans"));
  yield* tx.put(plans, changedPlan(stored, write, { scope, ref }));
  return null;
});

/** The plan after a change that concerns members. */
const changedPlan = (
  stored: KeptPlan | undefined,
  { pid, guildId, settings, position, at }: PutPlan,
  made: Pick<KeptPlan, "scope" | "ref">,
): KeptPlan => {
  const plan: KeptPlan = {
    pid,
    guildId,
    ...made,
    revision: 0,
    sweptAt: null,
    holder: null,
    ...stored,
    settings,
    position: isOn(stored) ? stored.position : position,
    sweep: null,
  };
  return settings.state === "on" ? sweeping(plan, 0, at) : { ...plan, revision: plan.revision + 1 };
};

export const layer = storeLayer(RolePlanStore, (db) => ({
  find: (place) =>
    db.read(function* (tx) {
      const stored = yield* findPlan(tx, place);
      return stored === undefined ? Option.none() : Option.some(yield* planOf(tx, stored));
    }),

  list: (pid) =>
    db.read(function* (tx) {
      const found = (yield* tx.scan(plans, [pid])).toSorted(placeOrder);
      return yield* Effect.forEach(found, (plan) => planOf(tx, plan));
    }),

  status: (place) =>
    db.read(function* (tx) {
      const stored = yield* findPlan(tx, place);
      const ofLog = logProblems((yield* tx.get(kvTable(guildLogs), logIdOf(place)))?.closedAt ?? null);
      if (stored === undefined) return { pending: 0, sweptAt: null, sweep: null, problems: ofLog };
      const { ref, sweptAt } = stored;
      const problems = [...(yield* sharedProblems(tx, ref)), ...ofLog];
      return {
        pending: yield* tx.count(planMembers.due, [ref]),
        sweptAt,
        sweep: sweepOf(stored),
        problems: problems.toSorted(problemOrder).slice(0, shownProblems),
      };
    }),

  ...memberOperations(db),
  ...settlingOperations(db),
  ...nicknameOperations(db),

  put: (write) => db.write(write.pid, (tx) => put(tx, write)),

  pause: (write) =>
    db.write(write.pid, function* (tx) {
      const stored = yield* findPlan(tx, write);
      if (!isOn(stored)) return false;
      const settings = { ...settingsOf(stored.settings), state: "paused" } as const;
      const paused = { ...write, position: stored.position, settings };
      yield* put(tx, paused, pauseFor(write.why, write.at));
      yield* storeProblems(tx, stored, "", write.problems ?? []);
      return true;
    }),

  remove: (write) =>
    Effect.gen(function* () {
      const { pid, guildId } = write;
      const removed = yield* db.write(pid, function* (tx) {
        const stored = yield* findPlan(tx, write);
        const isCommunity = yield* closeCommunity(txOf(tx), write);
        if (stored === undefined && !isCommunity) return undefined;
        const details = planEntryDetails(write, stored === undefined ? noPlan : settingsOf(stored.settings));
        yield* record(tx, pid, logged(write, "roles.deleted", details));
        yield* noteTurn(txOf(tx), write, "removed");
        yield* tx.remove(kvTable(rolePreviews), pid, guildId);
        yield* tx.remove(plans, pid, guildId);
        return { ref: stored?.ref ?? null };
      });
      if (removed === undefined) return false;
      yield* removeInSteps(db, kvTable(guildLogEntries).byLog, [logIdOf(write)]);
      const { ref } = removed;
      if (ref === null) return true;
      yield* removeInSteps(db, planMembers, [ref]);
      yield* removeInSteps(db, planProblems, [ref]);
      return true;
    }),

  setProblem: (place, reason, at) =>
    db.write(place.pid, function* (tx) {
      const stored = yield* findPlan(tx, place);
      if (stored === undefined) return;
      const before = (yield* tx.get(planProblems, stored.ref, ""))?.problems ?? [];
      const isGone = before.some((problem) => problem.roleId === null && problem.reason === reason);
      if (at === null && !isGone) return;
      const isKept = (problem: PlanProblem) =>
        problem.roleId !== null || (at === null && problem.reason !== reason);
      const added = at === null ? [] : [{ chatId: null, roleId: null, reason, at }];
      yield* storeProblems(tx, stored, "", [...before.filter(isKept), ...added]);
      yield* noteProblems(txOf(tx), place, at ?? 0);
    }),

  changedDays: (place) =>
    db.read((tx) => Effect.map(findPlan(tx, place), (stored) => stored?.changedDays ?? [])),

  putNicknamesBack: (write) =>
    Effect.flatMap(countNicknames(db, write), (count) =>
      db.write(write.pid, function* (tx) {
        const stored = yield* findPlan(tx, write);
        if (stored === undefined || stored.puttingBackSince !== undefined) return false;
        const details = { guildId: write.guildId, count };
        yield* record(tx, write.pid, logged(write, "nicknames.put_back", details));
        yield* tx.put(plans, { ...stored, puttingBackSince: write.at });
        return true;
      }),
    ),

  puttingBack: () =>
    db.read(function* (tx) {
      const found = yield* ofActive(tx, yield* tx.list(plans.puttingBack, []));
      return yield* Effect.forEach(found, (plan) => planOf(tx, plan));
    }),

  endPuttingBack: (place) =>
    db.write(place.pid, function* (tx) {
      const stored = yield* findPlan(tx, place);
      if (stored === undefined) return;
      const { puttingBackSince: _, ...plan } = stored;
      yield* tx.put(plans, plan);
    }),

  startSweep: (place, at) =>
    db.write(place.pid, function* (tx) {
      const stored = yield* findPlan(tx, place);
      if (!isOn(stored)) return false;
      yield* tx.put(plans, sweeping(stored, 0, at));
      return true;
    }),

  hold: (hold) =>
    holdItems(db, nodes, plans, hold, function* (tx, plan) {
      const { ref, position, revision, sweptAt } = plan;
      const [next] = yield* tx.list(planMembers.due, [ref], { limit: 1 });
      const [oldest] = yield* tx.list(planMembers.since, [ref], { limit: 1 });
      return {
        ...(yield* planOf(tx, plan)),
        position,
        revision,
        sweptAt,
        sweep: sweepOf(plan),
        nextDueAt: next?.waits?.dueAt ?? null,
        oldestSince: oldest?.waits?.since ?? null,
      };
    }),

  firstNode: (prefix, at) =>
    db.read(function* (tx) {
      const live = (yield* liveNodes(tx, nodes, at)).filter((id) => id.startsWith(prefix));
      return Option.fromUndefinedOr(live.toSorted()[0]);
    }),
}));

const sweepOf = ({ sweep }: KeptPlan) => {
  if (sweep === null) return null;
  const { startedAt: _, ...shown } = sweep;
  return shown;
};

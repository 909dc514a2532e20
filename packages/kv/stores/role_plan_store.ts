import type { ChatId, GuildId } from "@accountlink/core";
import {
  arePreviewedAs,
  changedSettings,
  concernsMembers,
  type HeldPlan,
  logProblems,
  noPlan,
  type PlanPlace,
  type PlanProblem,
  type PlanWrite,
  type PutPlan,
  placeOrder,
  planEntryDetails,
  previewTime,
  type RolePlan,
  RolePlanStore,
  type SettledMember,
  shownProblems,
} from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Option, Order } from "effect";
import { inSteps, stepSize } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { record } from "./audit_log.ts";
import { nextNumber } from "./counts.ts";
import { closedSince, deleteEntries, followPlan } from "./guild_logs.ts";
import { holdItems, liveNodes } from "./leases.ts";
import {
  isOn,
  type KeptPlan,
  type PlanMember,
  planMembers,
  planProblems,
  plans,
  previews,
  storeProblems,
} from "./role_plans.ts";
import { accountAt, refOf, scopeAt, withScope } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

/** Members of one transaction. */
const partSize = 40;

const nodes = "role plans";

const partsOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all.length === 0 ? [[]] : Arr.chunksOf(all, partSize);

const find = (tx: Transaction, { pid, guildId }: PlanPlace) => tx.get(plans, pid, guildId);

const heldBy = Effect.fnUntraced(function* (tx: Transaction, write: PlanPlace & { readonly node: string }) {
  const stored = yield* find(tx, write);
  return stored?.holder === write.node ? stored : undefined;
});

const planOf = Effect.fnUntraced(function* (tx: Transaction, { settings, scope, guildId }: KeptPlan) {
  return { ...settings, scope: yield* withScope(tx, scope), guildId } satisfies RolePlan;
});

const optionalPlan = Effect.fnUntraced(function* (tx: Transaction, stored: KeptPlan | undefined) {
  return stored === undefined ? Option.none() : Option.some(yield* planOf(tx, stored));
});

/** The plans of a guild, except those of suspended accounts. */
const plansOfGuild = Effect.fnUntraced(function* (tx: Transaction, guildId: GuildId) {
  const found: Array<KeptPlan> = [];
  for (const plan of yield* tx.list(plans.byGuild, [guildId])) {
    if ((yield* accountAt(tx, plan.scope.account)).status !== "suspended") found.push(plan);
  }
  return found;
});

const recordChange = (
  tx: Transaction,
  { pid, actor, requestId, at }: PlanWrite,
  action: "roles.updated" | "roles.deleted",
  details: ReturnType<typeof planEntryDetails>,
) => record(tx, { actor, requestId, at, action, details, pid });

const put = Effect.fnUntraced(function* (tx: Transaction, write: PutPlan) {
  const { pid, guildId, settings } = write;
  const stored = yield* find(tx, write);
  const ofGuild = yield* tx.list(plans.byGuild, [guildId]);
  const isTaken = ofGuild.some((plan) => plan.pid !== pid && isOn(plan));
  if (settings.state === "on" && isTaken) return false;
  const scope = refOf(yield* scopeAt(tx, pid));
  yield* confirmPreview(tx, write);
  const before = stored?.settings ?? noPlan;
  const changed = changedSettings(before, settings);
  if (changed.length === 0) return true;
  assertStorable([JSON.stringify(settings.rules), settings.nickname ?? ""]);
  yield* recordChange(tx, write, "roles.updated", planEntryDetails(write, before, settings));
  yield* followPlan(tx, scope, write, before.logChannelId);
  if (stored !== undefined && !concernsMembers(changed)) {
    yield* tx.put(plans, { ...stored, settings });
    return true;
  }
  if (stored !== undefined) yield* storeProblems(tx, stored, "", []);
  const ref = stored?.ref ?? (yield* nextNumber(tx, "plans"));
  yield* tx.put(plans, changedPlan(stored, write, { scope, ref }));
  return true;
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
    pausedAt: null,
    holder: null,
    ...stored,
    settings,
    position: isOn(stored) ? stored.position : position,
    sweep: null,
  };
  return settings.state === "on"
    ? { ...sweeping(plan, 0, at), pausedAt: null }
    : { ...plan, revision: plan.revision + 1, pausedAt: isOn(stored) ? at : plan.pausedAt };
};

/** Remembers that a plan is on with the settings of its preview. */
const confirmPreview = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, guildId, settings, at }: PutPlan,
) {
  const stored = yield* tx.get(previews, pid, guildId);
  const isOfPlan = stored?.preview.state === "done" && arePreviewedAs(stored.preview.settings, settings);
  if (settings.state === "on" && isOfPlan) yield* tx.put(previews, { ...stored, confirmedAt: at });
});

export const layer = storeLayer(RolePlanStore, (db) => ({
  find: (place) =>
    db.read(function* (tx) {
      return yield* optionalPlan(tx, yield* find(tx, place));
    }),

  findOn: (guildId) =>
    db.read(function* (tx) {
      return yield* optionalPlan(tx, (yield* plansOfGuild(tx, guildId)).find(isOn));
    }),

  findHome: (guildId) =>
    db.read(function* (tx) {
      const all = yield* plansOfGuild(tx, guildId);
      const last = all.filter(({ pausedAt }) => pausedAt !== null).toSorted(pausedOrder)[0];
      return yield* optionalPlan(tx, all.find(isOn) ?? last);
    }),

  list: (pid) =>
    db.read(function* (tx) {
      const found = (yield* tx.scan(plans, [pid])).toSorted(placeOrder);
      return yield* Effect.forEach(found, (plan) => planOf(tx, plan));
    }),

  status: (place) =>
    db.read(function* (tx) {
      const stored = yield* find(tx, place);
      const ofLog = logProblems(yield* closedSince(tx, place));
      if (stored === undefined) return { pending: 0, sweptAt: null, sweep: null, problems: ofLog };
      const { ref, sweptAt } = stored;
      const found = yield* tx.list(planProblems.newest, [ref], { limit: shownProblems });
      return {
        pending: yield* tx.count(planMembers.due, [ref]),
        sweptAt,
        sweep: sweepOf(stored),
        problems: [...new Map(found.map((one) => [one.chatId, one.problems])).values(), ofLog]
          .flat()
          .toSorted(problemOrder)
          .slice(0, shownProblems),
      };
    }),

  startPreview: ({ preview, at, pid, guildId }) =>
    Effect.gen(function* () {
      yield* inSteps(
        db,
        (tx) => tx.list(previews.byTime, [], { before: [at - previewTime + 1], limit: stepSize }),
        Effect.fnUntraced(function* (tx, old) {
          return (yield* tx.remove(previews, old.pid, old.guildId)) !== undefined;
        }),
      );
      yield* db.write(pid, function* (tx) {
        yield* scopeAt(tx, pid);
        yield* tx.put(previews, { pid, guildId, preview, savedAt: at, confirmedAt: null });
      });
    }),

  savePreview: ({ preview, at, pid, guildId }) =>
    db.write(pid, function* (tx) {
      const stored = yield* tx.get(previews, pid, guildId);
      if (stored?.preview.id !== preview.id) return false;
      yield* tx.put(previews, { ...stored, preview, savedAt: at });
      return true;
    }),

  findPreview: ({ pid, guildId }) =>
    db.read(function* (tx) {
      const stored = yield* tx.get(previews, pid, guildId);
      if (stored === undefined) return Option.none();
      const { preview, savedAt, confirmedAt } = stored;
      return Option.some({ preview, savedAt, confirmedAt });
    }),

  put: (write) =>
    Effect.gen(function* () {
      const isStored = yield* db.write(write.pid, function* (tx) {
        return yield* put(tx, write);
      });
      if (write.settings.logChannelId === null) yield* deleteEntries(db, write);
      return isStored;
    }),

  pause: (write) =>
    db.write(write.pid, function* (tx) {
      const stored = yield* find(tx, write);
      if (!isOn(stored)) return false;
      const { position, settings } = stored;
      const isPaused = yield* put(tx, { ...write, position, settings: { ...settings, state: "paused" } });
      yield* storeProblems(tx, stored, "", write.problems ?? []);
      return isPaused;
    }),

  remove: (write) =>
    Effect.gen(function* () {
      const { pid, guildId } = write;
      const removed = yield* db.write(pid, function* (tx) {
        const stored = yield* find(tx, write);
        if (stored === undefined) return undefined;
        yield* recordChange(tx, write, "roles.deleted", planEntryDetails(write, stored.settings));
        yield* tx.remove(previews, pid, guildId);
        const settings = { ...stored.settings, logChannelId: null };
        yield* followPlan(tx, stored.scope, { ...stored, settings }, stored.settings.logChannelId);
        return yield* tx.remove(plans, pid, guildId);
      });
      if (removed === undefined) return false;
      yield* deleteEntries(db, write);
      const { ref } = removed;
      yield* inSteps(
        db,
        (tx) => tx.scan(planMembers, [ref], { limit: stepSize }),
        Effect.fnUntraced(function* (tx, { chatId }) {
          return (yield* tx.remove(planMembers, ref, chatId)) !== undefined;
        }),
      );
      yield* inSteps(
        db,
        (tx) => tx.scan(planProblems, [ref], { limit: stepSize }),
        Effect.fnUntraced(function* (tx, { chatId }) {
          return (yield* tx.remove(planProblems, ref, chatId)) !== undefined;
        }),
      );
      return true;
    }),

  startSweep: (place, at) =>
    db.write(place.pid, function* (tx) {
      const stored = yield* find(tx, place);
      if (!isOn(stored)) return false;
      yield* tx.put(plans, sweeping(stored, 0, at));
      return true;
    }),

  hold: (hold) =>
    Effect.gen(function* () {
      const held = yield* holdItems(db, { name: nodes, items: plans, byHolder: plans.byHolder }, hold);
      return yield* db.read(function* (tx) {
        const found: Array<HeldPlan> = [];
        for (const plan of held) {
          const { ref, position, revision, sweptAt } = plan;
          if ((yield* accountAt(tx, plan.scope.account)).status === "suspended") continue;
          const [next] = yield* tx.list(planMembers.due, [ref], { limit: 1 });
          const [oldest] = yield* tx.list(planMembers.since, [ref], { limit: 1 });
          found.push({
            ...(yield* planOf(tx, plan)),
            position,
            revision,
            sweptAt,
            sweep: sweepOf(plan),
            nextDueAt: next?.waits?.dueAt ?? null,
            oldestSince: oldest?.waits?.since ?? null,
          });
        }
        return found;
      });
    }),

  mark: (write) =>
    Effect.gen(function* () {
      const { at, position, chatIds, sweepOf: total } = write;
      const parts = partsOf([...new Set(chatIds)]);
      for (const [index, part] of parts.entries()) {
        const isHeld = yield* db.write(write.pid, function* (tx) {
          const stored = yield* heldBy(tx, write);
          if (stored === undefined) return false;
          yield* readMembers(tx, stored, part);
          for (const chatId of part) yield* markWaiting(tx, stored, chatId, at);
          if (index < parts.length - 1) return true;
          const read = { ...stored, position };
          yield* tx.put(plans, total === null ? read : sweeping(read, total, at));
          return true;
        });
        if (!isHeld) return false;
      }
      return true;
    }),

  markMember: (guildId, chatId, at) =>
    db.write(guildId, function* (tx) {
      for (const stored of yield* tx.list(plans.byGuild, [guildId])) {
        if (isOn(stored)) yield* markWaiting(tx, stored, chatId, at);
      }
    }),

  firstNode: (prefix, at) =>
    db.read(function* (tx) {
      const live = (yield* liveNodes(tx, nodes, at)).filter((id) => id.startsWith(prefix));
      return Option.fromUndefinedOr(live.toSorted()[0]);
    }),

  due: (place, at, limit) =>
    db.read(function* (tx) {
      const stored = yield* find(tx, place);
      if (stored === undefined) return [];
      const found = yield* tx.list(planMembers.due, [stored.ref], { before: [at + 1], limit });
      return found.flatMap(({ chatId, mark, waits, nickname }) =>
        waits === null ? [] : [{ chatId, mark, since: waits.since, nickname }],
      );
    }),

  nicknames: (place, chatIds) =>
    db.read(function* (tx) {
      const stored = yield* find(tx, place);
      const named = new Map<ChatId, string>();
      if (stored === undefined) return named;
      for (const member of yield* readMembers(tx, stored, chatIds)) {
        if (member !== undefined && member.nickname !== null) named.set(member.chatId, member.nickname);
      }
      return named;
    }),

  settle: (write) =>
    Effect.gen(function* () {
      const { at, members, revision, sweep } = write;
      const parts = partsOf(members);
      for (const [index, part] of parts.entries()) {
        const settled = yield* db.write(write.pid, function* (tx) {
          const stored = yield* heldBy(tx, write);
          if (stored === undefined) return null;
          yield* readMembers(
            tx,
            stored,
            part.map(({ chatId }) => chatId),
          );
          for (const member of part) yield* settleMember(tx, stored, member, at);
          if (index < parts.length - 1) return { ended: null };
          yield* addPlanProblems(tx, stored, write.problems ?? []);
          const { sweep: running } = stored;
          if (running === null || sweep === null || revision !== stored.revision) return { ended: null };
          const next = sweep === "ended" ? null : { ...sweep, startedAt: running.startedAt };
          yield* tx.put(plans, { ...stored, sweep: next, ...(next === null && { sweptAt: at }) });
          return { ended: next === null ? { ...stored, startedAt: running.startedAt } : null };
        });
        if (settled === null) return false;
        if (settled.ended === null) continue;
        const { ref, startedAt } = settled.ended;
        yield* inSteps(
          db,
          (tx) => tx.list(planProblems.newest, [ref], { after: [-startedAt], limit: stepSize }),
          Effect.fnUntraced(function* (tx, old) {
            const found = yield* tx.get(planProblems, ref, old.chatId);
            const left = found?.problems.filter((problem) => problem.at >= startedAt) ?? [];
            if (found === undefined || left.length === found.problems.length) return false;
            yield* storeProblems(tx, found, found.chatId, left);
            return true;
          }),
        );
      }
      return true;
    }),

  settleOne: (place, member, at) =>
    db.write(place.pid, function* (tx) {
      const stored = yield* find(tx, place);
      if (stored !== undefined) yield* settleMember(tx, stored, member, at);
    }),
}));

/** Sorts paused plans: the one that was on last first. */
const pausedOrder = (one: KeptPlan, other: KeptPlan): number =>
  (other.pausedAt ?? 0) - (one.pausedAt ?? 0) || Order.String(one.pid, other.pid);

const sweepOf = ({ sweep }: KeptPlan) => {
  if (sweep === null) return null;
  const { startedAt: _, ...shown } = sweep;
  return shown;
};

const sweeping = (plan: KeptPlan, total: number, at: number): KeptPlan => ({
  ...plan,
  revision: plan.revision + 1,
  sweep: { after: null, done: 0, total, startedAt: at },
});

const readMembers = (tx: Transaction, { ref }: KeptPlan, chatIds: ReadonlyArray<ChatId>) =>
  tx.getAll(
    planMembers,
    chatIds.map((chatId) => [ref, chatId]),
  );

const markWaiting = Effect.fnUntraced(function* (
  tx: Transaction,
  { ref, pid, guildId }: KeptPlan,
  chatId: ChatId,
  at: number,
) {
  const { mark = 0, waits = null, nickname = null } = (yield* tx.get(planMembers, ref, chatId)) ?? {};
  const waiting = { since: waits?.since ?? at, dueAt: at };
  yield* tx.put(planMembers, { ref, pid, guildId, chatId, mark: mark + 1, waits: waiting, nickname });
});

const settleMember = Effect.fnUntraced(function* (
  tx: Transaction,
  stored: KeptPlan,
  settled: SettledMember,
  at: number,
) {
  const { chatId, mark: read, retryAt, nickname, problems } = settled;
  assertStorable([nickname ?? ""]);
  const { ref, pid, guildId } = stored;
  yield* storeProblems(
    tx,
    stored,
    chatId,
    problems.filter((problem) => !isOfPlan(problem)),
  );
  yield* addPlanProblems(tx, stored, problems.filter(isOfPlan));
  const before = yield* tx.get(planMembers, ref, chatId);
  const waits = waitsAfter(before, read, retryAt, at);
  if (waits === null && nickname === null) yield* tx.remove(planMembers, ref, chatId);
  else {
    const mark = before?.mark ?? (read ?? 0) + 1;
    yield* tx.put(planMembers, { ref, pid, guildId, chatId, mark, waits, nickname });
  }
});

const waitsAfter = (
  before: PlanMember | undefined,
  read: number | null,
  retryAt: number | null,
  at: number,
): PlanMember["waits"] => {
  const waits = before?.waits ?? null;
  if (waits !== null && before?.mark !== read) return waits;
  return retryAt === null ? null : { since: waits?.since ?? at, dueAt: retryAt };
};

const isOfPlan = (problem: PlanProblem): boolean => problem.chatId === null;

const addPlanProblems = Effect.fnUntraced(function* (
  tx: Transaction,
  stored: KeptPlan,
  added: ReadonlyArray<PlanProblem>,
) {
  for (const problem of added) {
    const before = (yield* tx.get(planProblems, stored.ref, ""))?.problems ?? [];
    const others = before.filter(({ roleId }) => roleId !== problem.roleId);
    yield* storeProblems(tx, stored, "", [...others, problem]);
  }
});

/** Sorts problems: the newest first, then by chat ID and role. */
const problemOrder = (one: PlanProblem, other: PlanProblem): number =>
  other.at - one.at ||
  Order.String(one.chatId ?? "", other.chatId ?? "") ||
  Order.String(one.roleId ?? "", other.roleId ?? "");

/** The members of role plans, in the transactions of the plans. */
import type { ChatId } from "@accountlink/core";
import {
  areNone,
  erasedLink,
  noChanges,
  noteProblems,
  type PlanPlace,
  type PlanProblem,
  type RoleChanges,
  type RolePlanStore,
  type SettledMember,
  withChanges,
} from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect } from "effect";
import { txOf } from "../records.ts";
import { inSteps, isFull, itemsOf, stepSize } from "../steps.ts";
import type { Database, Transaction } from "../transaction.ts";
import {
  isOn,
  type KeptPlan,
  type PlanMember,
  planMembers,
  planProblems,
  plans,
  storeProblems,
} from "./role_plans.ts";

export const findPlan = (tx: Transaction, { pid, guildId }: PlanPlace) => tx.get(plans, pid, guildId);

const heldBy = Effect.fnUntraced(function* (tx: Transaction, write: PlanPlace & { readonly node: string }) {
  const stored = yield* findPlan(tx, write);
  return stored?.holder === write.node ? stored : undefined;
});

export const sweeping = (plan: KeptPlan, total: number, at: number): KeptPlan => ({
  ...plan,
  revision: plan.revision + 1,
  sweep: { after: null, done: 0, total, startedAt: at },
});

const readMembers = (tx: Transaction, { ref }: KeptPlan, chatIds: ReadonlyArray<ChatId>) =>
  tx.getAll(planMembers, chatIds, (chatId) => [ref, chatId]);

const markWaiting = Effect.fnUntraced(function* (
  tx: Transaction,
  { ref, pid, guildId }: KeptPlan,
  chatId: ChatId,
  at: number,
  isErased = false,
) {
  const before = yield* tx.get(planMembers, ref, chatId);
  const { mark = 0, waits = null, nickname: set = null } = before ?? {};
  const waiting = { since: waits?.since ?? at, dueAt: at };
  const nickname = isErased ? (set ?? erasedLink) : set;
  yield* tx.put(planMembers, {
    ...before,
    ref,
    pid,
    guildId,
    chatId,
    mark: mark + 1,
    waits: waiting,
    nickname,
  });
});

/** The changes of a member who settles beside the entries of problems, and of the plan after it. */
const keysOfSettled = 40;

/** Settles members until the step ends. Returns the others, and whether problems may have changed. */
const settleSome = Effect.fnUntraced(function* (
  tx: Transaction,
  stored: KeptPlan,
  members: ReadonlyArray<SettledMember>,
  at: number,
) {
  const some = members.slice(0, stepSize);
  yield* readMembers(
    tx,
    stored,
    some.map(({ chatId }) => chatId),
  );
  let isChanged = false;
  for (const [index, member] of some.entries()) {
    const earlier = yield* tx.get(planProblems, stored.ref, member.chatId);
    const entries = 2 * member.problems.length + (earlier?.problems.length ?? 0);
    if (!tx.hasRoom(8, keysOfSettled + entries)) {
      // A member with dozens of problems loses the earlier ones in a step before.
      if (index === 0) yield* storeProblems(tx, stored, member.chatId, []);
      if (index > 0 || earlier !== undefined) return { left: members.slice(index), isChanged: true };
    }
    isChanged = (yield* settleMember(tx, stored, member, at)) || isChanged;
  }
  return { left: members.slice(some.length), isChanged };
});

/** Returns whether the problems may have changed. */
const settleMember = Effect.fnUntraced(function* (
  tx: Transaction,
  stored: KeptPlan,
  settled: SettledMember,
  at: number,
) {
  const { chatId, mark: read, retryAt, nickname, problems } = settled;
  assertStorable([nickname ?? ""]);
  const { ref, pid, guildId } = stored;
  const own = problems.filter((problem) => !isOfPlan(problem));
  const isChanged = yield* storeProblems(tx, stored, chatId, own);
  for (const problem of problems.filter(isOfPlan)) yield* addPlanProblem(tx, stored, problem);
  const before = yield* tx.get(planMembers, ref, chatId);
  const waits = waitsAfter(before, read, retryAt, at);
  if (waits === null && nickname === null && before?.replaced === undefined)
    yield* tx.remove(planMembers, ref, chatId);
  else {
    const mark = before?.mark ?? (read ?? 0) + 1;
    yield* tx.put(planMembers, { ...before, ref, pid, guildId, chatId, mark, waits, nickname });
  }
  return isChanged || problems.length > 0;
});

/** What a step of settling has left; or the plan of the sweep that it ended. */
type Settled =
  | { readonly members: ReadonlyArray<SettledMember>; readonly problems: ReadonlyArray<PlanProblem> }
  | { readonly ended: (KeptPlan & { readonly startedAt: number }) | null };

/** Forgets the problems that a sweep has not found again. */
const forgetProblems = (db: Database, { ref, startedAt }: KeptPlan & { readonly startedAt: number }) =>
  inSteps(
    db,
    (tx) => tx.list(planProblems.oldest, [ref], { before: [startedAt], limit: stepSize }),
    Effect.fnUntraced(function* (tx, old) {
      const found = yield* tx.get(planProblems, ref, old.chatId);
      const left = found?.problems.filter((problem) => problem.at >= startedAt) ?? [];
      if (found === undefined || left.length === found.problems.length) return false;
      yield* storeProblems(tx, found, found.chatId, left);
      return true;
    }),
  );

/** Adds what was changed of members to the plan's count of the day. */
const withCounted = (plan: KeptPlan, at: number, changes: RoleChanges = noChanges): KeptPlan =>
  areNone(changes) ? plan : { ...plan, changedDays: withChanges(plan.changedDays ?? [], at, changes) };

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

const addPlanProblem = Effect.fnUntraced(function* (tx: Transaction, stored: KeptPlan, problem: PlanProblem) {
  const before = (yield* tx.get(planProblems, stored.ref, ""))?.problems ?? [];
  const others = before.filter(({ roleId }) => roleId !== problem.roleId);
  yield* storeProblems(tx, stored, "", [...others, problem]);
});

/** Adds problems of the plan until the step ends, and returns the others. */
const addPlanProblems = Effect.fnUntraced(function* (
  tx: Transaction,
  stored: KeptPlan,
  added: ReadonlyArray<PlanProblem>,
) {
  for (const [index, problem] of added.entries()) {
    if (isFull(tx)) return added.slice(index);
    yield* addPlanProblem(tx, stored, problem);
  }
  return [];
});

/** Forgets the nickname that was replaced before a time, and the member if nothing else is stored. */
const dropReplaced = Effect.fnUntraced(function* (
  tx: Transaction,
  ref: number,
  chatId: ChatId,
  time = Number.POSITIVE_INFINITY,
) {
  const stored = yield* tx.get(planMembers, ref, chatId);
  if (stored?.replaced === undefined || stored.replaced.at >= time) return false;
  const { replaced: _, ...member } = stored;
  if (member.waits === null && member.nickname === null) yield* tx.remove(planMembers, ref, chatId);
  else yield* tx.put(planMembers, member);
  return true;
});

export const countNicknames = (db: Database, place: PlanPlace) =>
  db.read(function* (tx) {
    const stored = yield* findPlan(tx, place);
    return stored === undefined ? 0 : yield* tx.count(planMembers.replaced, [stored.ref]);
  });

type Operations =
  | "mark"
  | "markMember"
  | "due"
  | "nicknames"
  | "settle"
  | "settleOne"
  | "startNickname"
  | "keptNicknames"
  | "keptNickname"
  | "dropNickname"
  | "countNicknames"
  | "forgetNicknames";

export const memberOperations = (db: Database): Pick<RolePlanStore["Service"], Operations> => ({
  mark: (write) =>
    Effect.gen(function* () {
      const { at, position, chatIds, sweepOf: total } = write;
      const erased = new Set(write.erased);
      // A member that waits changes up to 14 keys.
      const size = itemsOf(db, 14, { beside: 12 });
      const parts = chatIds.length === 0 ? [[]] : Arr.chunksOf([...new Set(chatIds)], size);
      for (const [index, part] of parts.entries()) {
        const isHeld = yield* db.write(write.pid, function* (tx) {
          const stored = yield* heldBy(tx, write);
          if (stored === undefined) return false;
          yield* readMembers(tx, stored, part);
          for (const chatId of part) yield* markWaiting(tx, stored, chatId, at, erased.has(chatId));
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

  due: (place, at, limit) =>
    db.read(function* (tx) {
      const stored = yield* findPlan(tx, place);
      if (stored === undefined) return [];
      const found = yield* tx.list(planMembers.due, [stored.ref], { before: [at + 1], limit });
      return found.flatMap(({ chatId, mark, waits, nickname }) =>
        waits === null ? [] : [{ chatId, mark, since: waits.since, nickname }],
      );
    }),

  nicknames: (place, chatIds) =>
    db.read(function* (tx) {
      const stored = yield* findPlan(tx, place);
      const named = new Map<ChatId, string>();
      if (stored === undefined) return named;
      for (const member of yield* readMembers(tx, stored, chatIds)) {
        if (member !== undefined && member.nickname !== null) named.set(member.chatId, member.nickname);
      }
      return named;
    }),

  settle: (write) =>
    Effect.gen(function* () {
      const { at, revision, sweep } = write;
      let { members, problems = [] } = write;
      for (;;) {
        const settled = yield* db.write<Settled | null>(write.pid, function* (tx) {
          const stored = yield* heldBy(tx, write);
          if (stored === undefined) return null;
          const { left, isChanged } = yield* settleSome(tx, stored, members, at);
          const ofPlan = left.length > 0 ? [] : problems;
          const untold = yield* addPlanProblems(tx, stored, ofPlan);
          const isLast = left.length + untold.length === 0;
          const isRunning = stored.sweep !== null && revision === stored.revision;
          const isEnding = isLast && isRunning && sweep === "ended";
          if ((isChanged || ofPlan.length > 0) && !isEnding) yield* noteProblems(txOf(tx), write, at);
          if (!isLast) return { members: left, problems: left.length > 0 ? problems : untold };
          const counted = withCounted(stored, at, write.changes);
          const { sweep: running } = stored;
          if (running === null || sweep === null || revision !== stored.revision) {
            if (counted !== stored) yield* tx.put(plans, counted);
            return { ended: null };
          }
          const next = sweep === "ended" ? null : { ...sweep, startedAt: running.startedAt };
          yield* tx.put(plans, { ...counted, sweep: next, ...(next === null && { sweptAt: at }) });
          return { ended: next === null ? { ...stored, startedAt: running.startedAt } : null };
        });
        if (settled === null) return false;
        if ("members" in settled) {
          ({ members, problems } = settled);
          continue;
        }
        if (settled.ended === null) return true;
        yield* forgetProblems(db, settled.ended);
        yield* db.write(write.pid, (tx) => noteProblems(txOf(tx), write, at));
        return true;
      }
    }),

  startNickname: (place, { chatId, nickname, replaced, at }) =>
    db.write(place.pid, function* (tx) {
      assertStorable([nickname, replaced?.nickname ?? ""]);
      const stored = yield* findPlan(tx, place);
      if (stored === undefined) return false;
      const { ref, pid, guildId } = stored;
      const before = yield* tx.get(planMembers, ref, chatId);
      const nobody = { ref, pid, guildId, chatId, mark: 1, waits: null };
      const kept = before?.replaced ?? (replaced === null ? undefined : { ...replaced, at });
      const member = { ...nobody, ...before, nickname };
      yield* tx.put(planMembers, kept === undefined ? member : { ...member, replaced: kept });
      return replaced !== null && kept?.at === at;
    }),

  keptNicknames: (place, after, limit) =>
    db.read(function* (tx) {
      const stored = yield* findPlan(tx, place);
      if (stored === undefined) return [];
      const range = after === null ? { limit } : { after: [after], limit };
      const found = yield* tx.list(planMembers.replaced, [stored.ref], range);
      return found.flatMap(({ chatId, replaced }) =>
        replaced === undefined ? [] : [{ chatId, ...replaced }],
      );
    }),

  keptNickname: (place, chatId) =>
    db.read(function* (tx) {
      const stored = yield* findPlan(tx, place);
      const member = stored && (yield* tx.get(planMembers, stored.ref, chatId));
      return member?.replaced === undefined ? null : { chatId, ...member.replaced };
    }),

  countNicknames: (place) => countNicknames(db, place),

  dropNickname: (place, chatId) =>
    db.write(place.pid, function* (tx) {
      const stored = yield* findPlan(tx, place);
      if (stored !== undefined) yield* dropReplaced(tx, stored.ref, chatId);
    }),

  forgetNicknames: (before) =>
    Effect.asVoid(
      inSteps(
        db,
        (tx) => tx.list(planMembers.replacedAt, [], { before: [before], limit: stepSize }),
        (tx, { ref, chatId }) => dropReplaced(tx, ref, chatId, before),
      ),
    ),

  settleOne: (place, member, at, changes) =>
    Effect.asVoid(
      Effect.repeat(
        db.write(place.pid, function* (tx) {
          const stored = yield* findPlan(tx, place);
          if (stored === undefined) return true;
          const { left, isChanged } = yield* settleSome(tx, stored, [member], at);
          if (isChanged) yield* noteProblems(txOf(tx), place, at);
          if (left.length > 0) return false;
          const counted = withCounted(stored, at, changes);
          if (counted !== stored) yield* tx.put(plans, counted);
          return true;
        }),
        { until: (isDone) => isDone },
      ),
    ),
});

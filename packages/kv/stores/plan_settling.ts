/** The members of role plans whose changes have been made, in the transactions of the plans. */
import type { StoreUnavailable } from "@accountlink/core/errors";
import {
  areNone,
  noChanges,
  noteProblems,
  type PlanProblem,
  type RoleChanges,
  type RolePlanStore,
  type SettledMember,
  type SettleMembers,
  withChanges,
} from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import { txOf } from "../records.ts";
import { inSteps, isFull, stepSize } from "../steps.ts";
import type { Database, Transaction } from "../transaction.ts";
import {
  findPlan,
  heldBy,
  type KeptPlan,
  type PlanMember,
  planMembers,
  planProblems,
  plans,
  readMembers,
  storeProblems,
} from "./role_plans.ts";

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

/** Settles members and adds problems of the plan until the step ends. Returns null if another node holds the plan. */
const settleStep = Effect.fnUntraced(function* (
  tx: Transaction,
  write: SettleMembers,
): Effect.fn.Return<Settled | null, StoreUnavailable> {
  const { at, members, problems = [], sweep } = write;
  const stored = yield* heldBy(tx, write);
  if (stored === undefined) return null;
  const { left, isChanged } = yield* settleSome(tx, stored, members, at);
  const ofPlan = left.length > 0 ? [] : problems;
  const untold = yield* addPlanProblems(tx, stored, ofPlan);
  const isLast = left.length + untold.length === 0;
  const running = write.revision === stored.revision ? stored.sweep : null;
  const isEnding = isLast && running !== null && sweep === "ended";
  if ((isChanged || ofPlan.length > 0) && !isEnding) yield* noteProblems(txOf(tx), write, at);
  if (!isLast) return { members: left, problems: left.length > 0 ? problems : untold };
  return { ended: yield* putSettled(tx, stored, running, write) };
});

/** Stores the plan after its members have settled, and returns it if its sweep has ended. */
const putSettled = Effect.fnUntraced(function* (
  tx: Transaction,
  stored: KeptPlan,
  running: KeptPlan["sweep"],
  { at, sweep, changes }: SettleMembers,
) {
  const counted = withCounted(stored, at, changes);
  if (running === null || sweep === null) {
    if (counted !== stored) yield* tx.put(plans, counted);
    return null;
  }
  const { startedAt } = running;
  const next = sweep === "ended" ? null : { ...sweep, startedAt };
  yield* tx.put(plans, { ...counted, sweep: next, ...(next === null && { sweptAt: at }) });
  return next === null ? { ...stored, startedAt } : null;
});

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

type Operations = "settle" | "settleOne";

export const settlingOperations = (db: Database): Pick<RolePlanStore["Service"], Operations> => ({
  settle: (write) =>
    Effect.gen(function* () {
      let left = write;
      for (;;) {
        const settled = yield* db.write(write.pid, (tx) => settleStep(tx, left));
        if (settled === null) return false;
        if ("members" in settled) {
          left = { ...write, ...settled };
          continue;
        }
        if (settled.ended === null) return true;
        yield* forgetProblems(db, settled.ended);
        yield* db.write(write.pid, (tx) => noteProblems(txOf(tx), write, write.at));
        return true;
      }
    }),

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

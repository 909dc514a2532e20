/** The members of role plans whose changes have been made, and the problems of plans, in any storage. */
import { Array as Arr, Effect } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { keysOfAll, removeFound, type Tx } from "../records/records.ts";
import type { Millis } from "../timestamp.ts";
import {
  findMembers,
  findPlan,
  heldBy,
  newMember,
  type PlanStoreRecords,
  putMembers,
  queueOf,
} from "./plan_members.ts";
import { noteProblems } from "./plan_notice_store.ts";
import {
  hasEnded,
  noSweep,
  type PlanMember,
  type PlanRecord,
  problemRecord,
  rolePlans,
  roleProblems,
} from "./plan_records.ts";
import { areNone, noChanges, type RoleChanges, withChanges } from "./role_changes.ts";
import { type PlanProblem, planProblem } from "./role_plan.ts";
import type { PlanPlace, RolePlanStore, SettledMember, SettleMembers } from "./role_plan_store.ts";

/** Stores problems, one of each member and role. Several members may find the same problem of the plan. @internal */
export const putProblems = (tx: Tx, place: PlanPlace, problems: ReadonlyArray<PlanProblem>) =>
  tx.putAll(roleProblems, [
    ...new Map(
      problems.map((problem) => [`${problem.chatId} ${problem.roleId}`, problemRecord(place, problem)]),
    ).values(),
  ]);

/** The member after a comparison with the plan. An event that named it meanwhile lets it wait as before. */
const settledMember = (
  before: PlanMember,
  { mark: read, retryAt, nickname }: SettledMember,
  at: Millis,
): PlanMember => {
  const mark = before.mark === 0 ? (read ?? 0) + 1 : before.mark;
  if (before.dueAt !== null && before.mark !== read) return { ...before, mark, nickname };
  return { ...before, mark, nickname, dueAt: retryAt, since: retryAt === null ? null : (before.since ?? at) };
};

/** What a write settles, one after the other: a member's problems follow its `begun`, and the member follows them. */
type Item =
  | { readonly begun: ChatId }
  | { readonly problem: PlanProblem }
  | { readonly settled: SettledMember };

const itemsOf = ({
  members,
  problems = [],
}: Pick<SettleMembers, "members" | "problems">): ReadonlyArray<Item> => [
  ...members.flatMap((settled) => [
    { begun: settled.chatId },
    ...settled.problems.map((problem) => ({ problem })),
    { settled },
  ]),
  ...problems.map((problem) => ({ problem })),
];

/** Settles some items. Returns false if earlier problems of their members leave no room for them. */
const settleItems = Effect.fnUntraced(function* (
  tx: Tx,
  place: PlanPlace,
  items: ReadonlyArray<Item>,
  at: Millis,
  mostWritten: number,
) {
  const { pid, guildId } = place;
  const begun = items.flatMap((item) => ("begun" in item ? [item.begun] : []));
  const problems = items.flatMap((item) => ("problem" in item ? [item.problem] : []));
  const settled = items.flatMap((item) => ("settled" in item ? [item.settled] : []));
  // An erasure locks members before their problems too.
  const chatIds = settled.map(({ chatId }) => chatId);
  const before = yield* findMembers(tx, place, chatIds);
  const users = begun.map((chatId) => [chatId, pid, guildId]);
  const removed = yield* tx.removeOf(roleProblems.byUser, users);
  const isRoom = removed.length === 0 || removed.length + items.length <= mostWritten;
  if (isRoom) {
    yield* putProblems(tx, place, problems);
    yield* putMembers(
      tx,
      settled.map((member) =>
        settledMember(before.get(member.chatId) ?? newMember(place, member.chatId), member, at),
      ),
    );
  }
  if (removed.length + problems.length > 0) yield* noteProblems(tx, place, at);
  return isRoom;
});

/** Adds what was changed of members to the plan's count of the day. */
const withCounted = (plan: PlanRecord, at: Millis, changes: RoleChanges = noChanges): PlanRecord =>
  areNone(changes) ? plan : { ...plan, changedDays: withChanges(plan.changedDays ?? [], at, changes) };

/** Stores the plan after its members have settled. Returns when the sweep that ended had begun; null if none ended. */
const putSettled = Effect.fnUntraced(function* (
  tx: Tx,
  plan: PlanRecord,
  { at, revision, sweep, changes }: SettleMembers,
) {
  const counted = withCounted(plan, at, changes);
  const next = plan.sweepTotal === null || plan.revision !== revision ? null : sweep;
  const progress =
    next === null || next === "ended"
      ? { ...noSweep, sweptAt: at }
      : { sweepAfter: next.after, sweepDone: next.done, sweepTotal: next.total };
  if (next !== null || counted !== plan)
    yield* tx.put(rolePlans, { ...counted, ...(next !== null && progress) });
  return { sweptFrom: next === "ended" ? (plan.sweepStartedAt ?? 0) : null };
});

/** @internal */
export const settlingOperations = ({ write, inSteps, mostWritten }: PlanStoreRecords) => {
  /** Settles members in as few writes as the storage can. Returns what the last one made of the plan. */
  const settleAll = Effect.fnUntraced(function* <A>(
    name: "settle" | "settleOne",
    place: PlanPlace,
    items: ReadonlyArray<Item>,
    at: Millis,
    findMeant: (tx: Tx) => StoreEffect<PlanRecord | undefined>,
    end: (tx: Tx, plan: PlanRecord) => StoreEffect<A>,
  ) {
    for (let left = items; ; ) {
      const part = left.slice(0, mostWritten);
      const done = yield* write(name, queueOf(place), function* (tx) {
        const plan = yield* findMeant(tx);
        if (plan === undefined) return { ended: null };
        if (!(yield* settleItems(tx, place, part, at, mostWritten))) return "no_room" as const;
        return part.length < left.length ? ("settled" as const) : { ended: yield* end(tx, plan) };
      });
      if (typeof done === "object") return done.ended;
      if (done === "settled") left = left.slice(part.length);
    }
  });

  return {
    settle: Effect.fnUntraced(function* (settled) {
      const { pid, guildId, at } = settled;
      const ended = yield* settleAll(
        "settle",
        settled,
        itemsOf(settled),
        at,
        (tx) => heldBy(tx, settled),
        (tx, plan) => putSettled(tx, plan, settled),
      );
      if (ended === null) return false;
      const { sweptFrom } = ended;
      if (sweptFrom === null) return true;
      // The sweep has not found these problems again.
      yield* inSteps(
        "settle",
        queueOf(settled),
        (tx, limit) =>
          Effect.map(
            tx.list(roleProblems.byTime, [pid, guildId], { before: [sweptFrom], limit }),
            Arr.filter((problem) => hasEnded(problem, at)),
          ),
        Effect.fnUntraced(function* (tx, found) {
          const stored = yield* tx.getAll(roleProblems, keysOfAll(roleProblems, found));
          const old = stored.filter(({ at: seen }) => seen < sweptFrom);
          return yield* removeFound(roleProblems)(tx, old);
        }),
      );
      yield* write("settle", queueOf(settled), (tx) => noteProblems(tx, settled, at));
      return true;
    }),

    settleOne: (place, member, at, changes) =>
      Effect.asVoid(
        settleAll(
          "settleOne",
          place,
          itemsOf({ members: [member] }),
          at,
          (tx) => findPlan(tx, place),
          (tx, plan) =>
            areNone(changes ?? noChanges) ? Effect.void : tx.put(rolePlans, withCounted(plan, at, changes)),
        ),
      ),

    setProblem: (place, reason, at) =>
      write("setProblem", queueOf(place), function* (tx) {
        if ((yield* findPlan(tx, place)) === undefined) return;
        const { pid, guildId } = place;
        const stored = yield* tx.get(roleProblems, pid, guildId, "", "");
        if (at !== null) yield* putProblems(tx, place, [planProblem(reason, at)]);
        else if (stored?.reason === reason) yield* tx.remove(roleProblems, pid, guildId, "", "");
        else return;
        yield* noteProblems(tx, place, at ?? 0);
      }),
  } satisfies Partial<RolePlanStore["Service"]>;
};

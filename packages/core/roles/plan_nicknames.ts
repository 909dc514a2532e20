/** The nicknames that role plans have set and replaced, in any storage. */
import { Array as Arr, Effect } from "effect";
import { keysOfAll, type Tx } from "../records/records.ts";
import {
  findMembers,
  findPlan,
  newMember,
  type PlanStoreRecords,
  putMembers,
  queueOf,
} from "./plan_members.ts";
import { type PlanMember, roleMembers } from "./plan_records.ts";
import type { RolePlanStore } from "./role_plan_store.ts";

const noNickname = { nickname: null, at: null };

/** Drops the nickname that was replaced of members, in favour of an earlier one if there is one. */
const dropReplaced = (
  tx: Tx,
  members: ReadonlyArray<PlanMember>,
  { nickname, at }: { readonly nickname: string | null; readonly at: number | null } = noNickname,
) => {
  const dropped = members.map((member) => ({ ...member, replacedNickname: nickname, replacedAt: at }));
  return Effect.as(putMembers(tx, dropped), members.length);
};

const keptNicknameOf = ({ chatId, replacedNickname: nickname, replacedAt: at }: PlanMember) =>
  at === null ? [] : [{ chatId, nickname, at }];

/** @internal */
export const nicknameOperations = ({ read, write, inSteps }: PlanStoreRecords) =>
  ({
    startNickname: (place, { chatId, nickname, replaced, at }) =>
      write("startNickname", queueOf(place), function* (tx) {
        if ((yield* findPlan(tx, place)) === undefined) return null;
        const before = (yield* findMembers(tx, place, [chatId])).get(chatId) ?? {
          ...newMember(place, chatId),
          mark: 1,
        };
        // The nickname that a member chose after the plan's had gone replaces the one from before.
        const isNew = before.replacedAt === null || (before.nickname === null && replaced?.nickname !== null);
        const isKept = replaced !== null && isNew;
        const kept = isKept ? { replacedNickname: replaced.nickname, replacedAt: at } : {};
        const member = { ...before, nickname, ...kept };
        yield* tx.put(roleMembers, member);
        return replaced === null || member.replacedAt !== at
          ? null
          : { earlier: keptNicknameOf(before)[0] ?? null };
      }),

    keptNicknames: ({ pid, guildId }, after, limit) =>
      read("keptNicknames", (tx) =>
        Effect.map(
          tx.list(roleMembers.replaced, [pid, guildId], { limit, ...(after !== null && { after: [after] }) }),
          Arr.flatMap(keptNicknameOf),
        ),
      ),

    keptNickname: (place, chatId) =>
      read("keptNickname", function* (tx) {
        const member = (yield* findMembers(tx, place, [chatId])).get(chatId);
        return (member && keptNicknameOf(member)[0]) ?? null;
      }),

    countNicknames: ({ pid, guildId }) =>
      read("countNicknames", (tx) => tx.count(roleMembers.replaced, [pid, guildId])),

    dropNickname: (place, chatId, earlier) =>
      write("dropNickname", queueOf(place), function* (tx) {
        const found = [...(yield* findMembers(tx, place, [chatId])).values()];
        const kept = found.filter(({ replacedAt }) => replacedAt !== null);
        yield* dropReplaced(tx, kept, earlier ?? undefined);
      }),

    forgetNicknames: (before) =>
      Effect.asVoid(
        inSteps(
          "forgetNicknames",
          "replaced nicknames",
          (tx, limit) => tx.list(roleMembers.byReplacedAt, [], { before: [before], limit }),
          Effect.fnUntraced(function* (tx, found) {
            const stored = yield* tx.getAll(roleMembers, keysOfAll(roleMembers, found));
            const old = stored.filter(({ replacedAt }) => replacedAt !== null && replacedAt < before);
            return yield* dropReplaced(tx, old);
          }),
        ),
      ),
  }) satisfies Partial<RolePlanStore["Service"]>;

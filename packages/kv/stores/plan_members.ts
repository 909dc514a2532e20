/** The members of role plans whose changes are pending, in the transactions of the plans. */
import type { ChatId } from "@accountlink/core";
import { erasedLink, type RolePlanStore } from "@accountlink/core/roles";
import { Array as Arr, Effect } from "effect";
import { itemsOf } from "../steps.ts";
import type { Database, Transaction } from "../transaction.ts";
import { findPlan, heldBy, isOn, type KeptPlan, planMembers, plans, readMembers } from "./role_plans.ts";

export const sweeping = (plan: KeptPlan, total: number, at: number): KeptPlan => ({
  ...plan,
  revision: plan.revision + 1,
  sweep: { after: null, done: 0, total, startedAt: at },
});

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

type Operations = "mark" | "markMember" | "due" | "nicknames";

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
});

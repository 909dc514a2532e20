/** The nicknames that role plans have set and replaced, in the transactions of the plans. */
import type { ChatId } from "@accountlink/core";
import type { PlanPlace, RolePlanStore } from "@accountlink/core/roles";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import { inSteps, stepSize } from "../steps.ts";
import type { Database, Transaction } from "../transaction.ts";
import { findPlan, planMembers } from "./role_plans.ts";

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
  | "startNickname"
  | "keptNicknames"
  | "keptNickname"
  | "dropNickname"
  | "countNicknames"
  | "forgetNicknames";

export const nicknameOperations = (db: Database): Pick<RolePlanStore["Service"], Operations> => ({
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
});
